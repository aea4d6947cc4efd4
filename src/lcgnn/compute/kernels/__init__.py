"""Fused operations for the CPU, one a file: a plain torch version and the choice between it and a compiled one.

Both versions compute the same thing, random numbers included; the tests hold them to that. The compiled versions
are in ``compiled``; ``backend`` says whether they work here and apply.
"""

from lcgnn.compute.kernels.backend import Choice, fused, ready, use

__all__ = ["Choice", "fused", "ready", "use"]
