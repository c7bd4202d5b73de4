"""`python -m statecomp`."""

from statecomp.cli.app import main

main()
