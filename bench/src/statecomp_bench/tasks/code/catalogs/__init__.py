"""Move texts into catalogues of two languages."""
