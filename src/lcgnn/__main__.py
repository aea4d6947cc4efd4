"""``python -m lcgnn`` is ``lcgnn``."""

from lcgnn.cli import main

main()
