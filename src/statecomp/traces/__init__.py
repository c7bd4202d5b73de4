"""Reading recorded runs, ours and other tools', and masking the secrets in them."""
