"""Move an application to a new client library."""
