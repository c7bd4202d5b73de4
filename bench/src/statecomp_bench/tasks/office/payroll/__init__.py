"""Post corrections of pay."""
