"""The loops that numba compiles, one operation a file, and what they are written in (``jit``, ``lanes``).

Everything here needs numba and llvmlite when it is imported, so nothing else of lcgnn imports from here before
``backend.fused`` has said that they work; the plain twins are one folder up.
"""
