"""What makes an extract plain: names, outcomes side by side, nothing stale, no noise."""
