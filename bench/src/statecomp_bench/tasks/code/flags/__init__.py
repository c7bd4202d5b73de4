"""Remove stale feature flags by policy."""
