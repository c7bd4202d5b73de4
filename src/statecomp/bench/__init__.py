"""The closed-loop bench: real tools, tasks with checkers, any strategy before each request."""
