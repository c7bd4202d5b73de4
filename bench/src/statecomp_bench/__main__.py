"""`python -m statecomp_bench` is `statecomp-bench`."""

from statecomp_bench.cli import main

main()
