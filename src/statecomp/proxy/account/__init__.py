"""The account of what went through: bills, regrets, and one row a request."""
