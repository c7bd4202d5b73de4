"""Keep a register of contracts."""
