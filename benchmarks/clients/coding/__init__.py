"""A coding session of any length that the scripted model plays with whatever tools it is given.

The project is real code (modules of Python's own library, each with one planted fault and a small
test), so that tools answer as tools do: listings, tracebacks, files of 4 to 13 KB.
"""
