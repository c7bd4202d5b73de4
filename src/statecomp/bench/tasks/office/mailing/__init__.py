"""Write letters to customers."""
