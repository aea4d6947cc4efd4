"""The application: its options before a command, and how an error looks."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from errno import ENOSPC
from typing import Annotated, NoReturn

import typer

from lcgnn.cli.ahead import end_workers, this_is_the_program
from lcgnn.cli.ending import Ended, interruptible, shown_to_the_end
from lcgnn.compute.placement.launch import end_with_parent, is_launched, is_of_torchrun, silence_torch
from lcgnn.errors import ConfigError, LCGNNError
from lcgnn.files import SPACE_HINT

app = typer.Typer(
    name="lcgnn",
    help="Classify the nodes of a graph from a handful of labels (label-consistency graph neural networks).\n\n"
    "Start with: lcgnn train cora --method lc-gcn --seeds 10\n\n"
    "Your own graph: lcgnn init my_graph, then lcgnn train my_graph",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line and turn every expected error into one line and exit code 2."""
    if is_of_torchrun():
        end_with_parent()
    this_is_the_program()
    if is_launched():
        silence_torch()
    try:
        with interruptible(), shown_to_the_end():
            app()
    except LCGNNError as error:
        if "--debug" in sys.argv:
            raise
        _fail(str(error))
    except OSError as error:
        if "--debug" in sys.argv:
            raise
        where = "" if error.filename is None else f"{error.filename}: "
        _fail(f"{where}{error.strerror or error}. {SPACE_HINT if error.errno == ENOSPC else ''}".rstrip())
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    except Ended as ended:
        # Where the terminal is gone there is nobody to tell.
        with suppress(OSError):
            print(f"lcgnn: {ended}", file=sys.stderr, flush=True)
        raise SystemExit(ended.code) from None
    finally:
        end_workers()


def _fail(message: str) -> NoReturn:
    print(f"lcgnn: {message}", file=sys.stderr)
    raise SystemExit(2)


def _show_version(wanted: bool) -> None:
    if wanted:
        from lcgnn import __version__

        print(f"lcgnn {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
    _debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print results and errors only: no notes, no progress.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print notes that sum others up with all of those.")
    ] = False,
) -> None:
    """Options that come before a command."""
    if quiet and verbose:
        raise ConfigError("--quiet and --verbose contradict each other. Leave one of them out.")
    if quiet or verbose:
        from lcgnn.cli.display import err

        err.quiet, err.verbose = quiet, verbose
    if quiet:
        # For the processes that it starts as well.
        os.environ["LCGNN_QUIET"] = "1"
