"""What importing lcgnn leaves alone, and what its command line sets."""

import subprocess
import sys

# What scikit-learn and torch put into the environment themselves is theirs.
PROGRAM = """
import os
import sklearn, torch
before = dict(os.environ)
import lcgnn
for name in lcgnn.__all__:
    getattr(lcgnn, name)
changed = {name for name in {*before, *os.environ} if before.get(name) != os.environ.get(name)}
print(sorted(changed))
"""


def test_importing_everything_public_leaves_the_environment_as_it_was():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
