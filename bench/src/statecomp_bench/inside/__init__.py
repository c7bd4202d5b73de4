"""What runs inside the sandbox: standard library only, and relative imports only.

The worker is started as a package of its own, without `statecomp` around it, so that a run's tools
are ready in some thirty milliseconds and see nothing of the program that started them.
"""
