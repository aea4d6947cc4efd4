"""No command writes over what it reads, or over a file that lcgnn did not make, whatever the option is called."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import typer

from lcgnn.cli import app, main

TINY = 'title = "T"\nseeds = 1\n[[rows]]\nname = "LP"\nmethod = "lp"\n[[columns]]\nname = "C"\ndataset = "cora"\n'
STORED = ["--records", "records", "--results", "results"]
MINE = b"mine\n"

# For every option of every command that names a file or folder: what is typed, and the user's file that it would
# write over. None for an option that only names what is read.
ATTEMPTS: dict[tuple[str, str], list[tuple[list[str], str]] | None] = {
    ("init", "folder"): [(["init", "graph"], "graph/nodes.csv"), (["init", "notes.txt"], "notes.txt")],
    ("inspect", "plot"): [
        (["inspect", "graph", "--plot", "graph/nodes.csv"], "graph/nodes.csv"),
        (["inspect", "graph", "--plot", "photo.png"], "photo.png"),
        (["inspect", "graph", "--plot", "matplotlib.png"], "matplotlib.png"),
        (["inspect", "graph", "--plot", "link.png"], "link.png"),
    ],
    ("label", "out"): [
        (["label", "graph", "--no-browser", "--out", "graph/nodes.csv"], "graph/nodes.csv"),
        (["label", "graph", "--no-browser", "--out", "notes.txt"], "notes.txt"),
    ],
    ("label", "password_file"): None,
    ("train", "out"): [(["train", "graph", "--out", "graph"], "graph/nodes.csv")],
    ("train", "_config"): None,
    ("suggest", "run"): None,
    ("suggest", "out"): [
        (["suggest", "graph", "--count", "1", "--out", "graph/nodes.csv"], "graph/nodes.csv"),
        (["suggest", "graph", "--count", "1", "--out", "sheet.csv"], "sheet.csv"),
    ],
    ("explain", "run"): None,
    ("doubt", "out"): [(["doubt", "graph", "--out", "graph"], "graph/nodes.csv")],
    ("doubt", "save"): [(["doubt", "graph", "--save", "sheet.csv"], "sheet.csv")],
    ("compare", "out"): [(["compare", "graph", "--out", "graph"], "graph/nodes.csv")],
    ("demo", "out"): [(["demo", "--out", "demo"], "demo/accuracy.png")],
    **{(command, "labels_from"): None for command in ("train", "compare", "doubt", "suggest")},
    ("label", "labels_from"): [(["label", "graph", "--labels-from", "sheet.csv"], "sheet.csv")],
    ("predict", "run"): None,
    ("predict", "out"): [
        (["predict", "run", "graph", "--out", "graph/NODES.csv"], "graph/NODES.csv"),
        (["predict", "run", "graph", "--out", "sheet.csv"], "sheet.csv"),
        (["predict", "run", "graph", "--out", "sheet.parquet"], "sheet.parquet"),
        (["predict", "run", "graph", "--out", "run/seed-0/predictions.csv"], "run/seed-0/predictions.csv"),
        (["predict", "run", "answers.csv", "--out", "answers.csv"], "answers.csv"),
    ],
    ("generate", "folder"): [(["generate", "graph"], "graph/nodes.csv")],
    ("partition", "out"): [(["partition", "graph", "--out", "graph"], "graph/nodes.csv")],
    ("reproduce", "records"): [(["reproduce", "tiny.toml", "--records", "notes.txt"], "notes.txt")],
    ("reproduce", "results"): [
        (["reproduce", "tiny.toml", "--results", "tables"], "tables/tiny.md"),
        (["reproduce", "tiny.toml", "--results", "pages"], "pages/report.html"),
        (["reproduce", "table1", "--results", "counts"], "counts/table1.json"),
        (["reproduce", "tiny.toml", "--results", "packs"], "packs/tiny.jsonl"),
    ],
    ("results pack", "records"): None,
    ("results pack", "results"): [(["results", "pack", "tiny.toml", "--results", "packs"], "packs/tiny.jsonl")],
    ("report", "records"): None,
    ("report", "runs"): None,
    ("report", "results"): [(["report", "--results", "pages"], "pages/report.html")],
    ("report", "out"): [
        (["report", *STORED, "--out", "notes.txt"], "notes.txt"),
        (["report", *STORED, "--out", "pages/report.html"], "pages/report.html"),
    ],
    ("report", "markdown"): [
        (["report", *STORED, "--markdown", "tiny.toml"], "tiny.toml"),
        (["report", *STORED, "--markdown", "tables/tiny.md"], "tables/tiny.md"),
    ],
}


def path_options(group: typer.Typer, before: str = "") -> Iterator[tuple[str, str]]:
    """Every option or argument of a registered command whose value is a path."""
    for inner in group.registered_groups:
        assert inner.typer_instance is not None
        yield from path_options(inner.typer_instance, f"{before}{inner.name} ")
    for command in group.registered_commands:
        assert command.callback is not None
        for name, kind in get_type_hints(command.callback).items():
            if kind is Path or Path in get_args(kind):
                yield f"{before}{command.name or command.callback.__name__}", name


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of things that a user has made, and one run."""
    monkeypatch.chdir(tmp_path)
    mine = {item[1] for attempts in ATTEMPTS.values() for item in attempts or [] if item[1] != "tiny.toml"}
    for name in mine - {"matplotlib.png", "link.png", "answers.csv", "run/seed-0/predictions.csv"}:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(MINE)
    Path("graph/nodes.csv").write_text("id,label,x\na,p,1\nb,q,2\nc,,3\n", encoding="utf-8")
    Path("graph/edges.csv").write_text("source,target\na,b\nb,c\n", encoding="utf-8")
    Path("tiny.toml").write_text(TINY, encoding="utf-8")
    header = b'"id","label","probability","origin"\n'
    Path("answers.csv").write_bytes(header)
    Path("run/seed-0").mkdir(parents=True)
    Path("run/seed-0/predictions.csv").write_bytes(header)
    Path("run/seed-0/result.json").write_text("{}", encoding="utf-8")
    Path("link.png").symlink_to("graph/nodes.csv")
    from matplotlib.figure import Figure

    Figure(figsize=(1, 1)).savefig("matplotlib.png")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def run(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["lcgnn", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def test_every_option_that_names_a_file_or_folder_is_tried_below() -> None:
    assert set(ATTEMPTS) == set(path_options(app))


@pytest.mark.parametrize(
    ("arguments", "mine"),
    [item for attempts in ATTEMPTS.values() for item in attempts or []],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_file_that_lcgnn_did_not_make_is_never_written_over(
    arguments: list[str],
    mine: str,
    files: Path,
    cora: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = contents(files)
    assert run(arguments, monkeypatch) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    after = contents(files)
    assert {name: after.get(name) for name in before} == before
    assert mine in before


def test_an_earlier_output_of_the_same_kind_is_replaced(
    files: Path, cora: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = [
        ["inspect", "graph", "--plot", "plot.png"],
        ["reproduce", "tiny.toml", *STORED],
        ["reproduce", "table1", *STORED],
        ["results", "pack", "tiny.toml", *STORED],
        ["report", "tiny.toml", *STORED, "--out", "page.html", "--markdown", "all.md"],
    ]
    for command in [*commands, *commands]:
        assert run(command, monkeypatch) == 0
    assert contents(files)["plot.png"].startswith(b"\x89PNG")
