"""What the verbs do, for Python: `statecomp.annotate`, `train`, `evaluate` and `replay`."""
