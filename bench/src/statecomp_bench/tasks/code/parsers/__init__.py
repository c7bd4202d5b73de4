"""Write typed parsers for old line formats."""
