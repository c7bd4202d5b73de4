"""Follow broken addresses into a redirect map."""
