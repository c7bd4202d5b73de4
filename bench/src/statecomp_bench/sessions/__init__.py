"""Several tasks in one conversation: a person comes back with the next request."""
