"""What the scripted model's hands and eyes do, apart from what it decides."""
