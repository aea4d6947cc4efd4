"""Labelling: a page on which a graph's nodes are labelled."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from lcgnn.cli import options
from lcgnn.cli.app import app
from lcgnn.cli.gathering import takes_columns
from lcgnn.errors import ConfigError


@app.command()
@takes_columns("guessed")
def label(
    graph: options.Graph,
    columns: Any,
    out: Annotated[
        Path | None,
        typer.Option(help="The file that labels are appended to. [default: labels.csv beside the tables]"),
    ] = None,
    labels_from: Annotated[
        Path | None, typer.Option(help="The same as --out, by the name that the other commands have for the file.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port of the page; 0 for any that is free.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Let other machines reach the page; needs a password.")
    ] = False,
    password_file: Annotated[
        Path | None, typer.Option(help="A file whose first line is the password. [default: asked for]")
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option("--simulate", help="Hide the labels that the graph has; a simulated labeller can give them."),
    ] = False,
) -> None:
    """Label nodes on a page in the browser: it suggests which, learns as you go and says what to expect.

    Labels are appended to a file, one by one; 'lcgnn train' reads it. Stopped at any moment, nothing is lost.

    Example: lcgnn label my_graph

    Example: lcgnn label cora --simulate
    """
    from lcgnn.cli.display import err, fetching, print_notes
    from lcgnn.cli.display import out as console
    from lcgnn.labelling.opening import open_graph
    from lcgnn.labelling.security import is_loopback
    from lcgnn.labelling.serving import Address, check_installed, prepare

    def told(line: str) -> None:
        console.print(line, soft_wrap=True, markup=False, highlight=False)

    check_installed()
    if None not in (out, labels_from) and out != labels_from:
        raise ConfigError("--out and --labels-from both name the file that labels are in. Leave one of them out.")
    password = _password(password_file) if allow_remote and not is_loopback(host) else None
    address = Address(host, port, allow_remote, password)
    address.check()
    with fetching(err) as progress:
        opened = open_graph(graph, columns, out=out or labels_from, simulate=simulate, progress=progress)
    serving = prepare(opened, address)
    print_notes(opened.loaded.notes)
    # Whoever reads the link may end the page before it is served.
    with suppress(KeyboardInterrupt):
        for line in serving.words:
            told(line)
        if browser:
            serving.open_browser()
        serving.run()
    told(f"\n{serving.last_words}")


def _password(file: Path | None) -> str:
    """The first line of a file, or what is typed in without being shown."""
    if file is None:
        return str(typer.prompt("Password for the page", hide_input=True, confirmation_prompt=True))
    try:
        return (file.read_text(encoding="utf-8").splitlines() or [""])[0]
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"--password-file {file} is no text in UTF-8 (byte {error.start + 1}). Write the password as such."
        ) from error
