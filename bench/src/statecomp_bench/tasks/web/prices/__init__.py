"""Write price tables with currencies, tax and rounding."""
