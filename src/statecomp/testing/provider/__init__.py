"""A model that follows a script, behind an API that is as strict as the providers' are.

For demos, tests and benchmarks: nothing in it is random, and nothing leaves the machine.  It reads
the wire rules on its own, without `statecomp.wire`, so that a mistake there shows here.
"""
