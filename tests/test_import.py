"""What importing lcgnn leaves alone, and what its command line sets."""

import os
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


def test_the_command_line_lets_torch_ask_for_large_pages_before_it_is_there():
    code = (
        "import os, sys; sys.argv = ['lcgnn', '--version']\n"
        "from lcgnn.cli import main\n"
        "try: main()\n"
        "except SystemExit: print(os.environ['THP_MEM_ALLOC_ENABLE'], 'torch' in sys.modules)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "THP_MEM_ALLOC_ENABLE"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "1 False"
