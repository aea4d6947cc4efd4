"""Pages of results: the claims first, then a page for every experiment and for every measurement."""

import re
from collections.abc import Iterator
from pathlib import Path

_FIRST = (
    "Every number here was printed by a command that stands beside it. "
    'The <a href="report.html">report</a> has the same records with plots, confusion and calibration, on one page.'
)
_MEASURED = (
    "What `python -m benchmarks` measured: speed, memory, and how far what is said of a graph can be trusted."
)


def pages(root: Path) -> Iterator[tuple[str, str, str]]:
    """The file that a page is made of, where it goes and what it says.

    Args:
        root: Of the repository.
    """
    written = (root / "RESULTS.md").read_text(encoding="utf-8")
    before, *sections = re.split(r"^## ", written, flags=re.MULTILINE)
    titled = {section.partition("\n")[0]: section for section in sections}
    experiments = {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted((root / "results").glob("*.md"))
        if path.stem != "README"
    }
    for name, text in experiments.items():
        yield f"results/{name}.md", f"results/{name}.md", text.replace("## ", "# ", 1)
    others = {title: text for title, text in titled.items() if not _is_of(title, experiments)}
    claims = others.pop(next(title for title in others if "claims" in title))
    further = {_slug(title): text for title, text in others.items()}
    for name, text in further.items():
        yield "RESULTS.md", f"results/{name}.md", f"# {text}"
    # As RESULTS.md has them: the paper's first.
    titles = list(titled)
    ordered = sorted(experiments, key=lambda name: titles.index(_title(experiments[name], titles)))
    summary = before.partition("\n")[2].strip()
    first = ["# Results", _FIRST, f"## {claims.strip()}", f"## The experiments\n\n{summary}"]
    yield "RESULTS.md", "results/index.md", "\n\n".join([*first, _tree([*ordered, *further])])
    yield from _measurements(root / "benchmarks" / "results")


def _measurements(folder: Path) -> Iterator[tuple[str, str, str]]:
    names = sorted(path.stem for path in folder.glob("*.md"))
    for name in names:
        text = (folder / f"{name}.md").read_text(encoding="utf-8")
        picture = f"\n![]({name}.png)\n" if (folder / f"{name}.png").exists() else ""
        origin = f"benchmarks/results/{name}.md"
        yield origin, f"measurements/{name}.md", f"# Measured: {name.replace('-', ', ')}\n\n{text}{picture}"
    origin = "benchmarks/results/index.md"
    yield origin, "measurements/index.md", "\n\n".join(["# Measurements", _MEASURED, _tree(names)])


def _is_of(title: str, experiments: dict[str, str]) -> bool:
    return any(text.startswith(f"## {title}\n") for text in experiments.values())


def _title(text: str, titles: list[str]) -> str:
    """Of an experiment's page, where it is in RESULTS.md; one that is not there yet comes last."""
    title = text.partition("\n")[0].removeprefix("## ")
    return title if title in titles else titles[-1]


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _tree(names: list[str]) -> str:
    return "\n".join(["```{toctree}", ":maxdepth: 1", "", *names, "```"])
