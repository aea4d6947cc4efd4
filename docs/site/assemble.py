"""From the repository to a folder of pages that Sphinx reads: what goes where, and the links between.

Pages in ``docs/`` stay as they are read on their own. A new one is found by itself and becomes a guide, unless a
section below names it.
"""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from docs.site import methods, reference, results
from docs.site.commands import commands_page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

# The sections of the site and their pages, in order; guides that are not named come after those that are.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Start": ("start",),
    "Guides": (
        "own-graph",
        "choosing",
        "which-nodes",
        "labelling",
        "new-nodes",
        "large-graphs",
        "own-model",
        "watching",
        "reproducing",
        "report",
        "data",
        "examples",
    ),
    "Coming from elsewhere": ("from-pyg", "from-dgl", "from-scikit-learn", "from-networkx"),
    "Methods": ("method", "methods"),
    "Results": ("results/index", "measurements/index"),
    "Reference": ("reference/index", "reference/commands"),
    "Design": ("architecture", "contributing", "changelog"),
}

# Files elsewhere in the repository that are pages, or parts of one.
_ELSEWHERE = {
    "README.md": "start.md",
    "RESULTS.md": "results/index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "results": "results/index.md",
    "examples": "examples.md",
}
_FOLDERS = {"results": "results", "benchmarks/results": "measurements"}

_FENCED = re.compile(r"(^(`{3,}|:{3,}).*?^\2$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()([^()\s]+)(?=\))")


class DeadLink(Exception):
    """A link in a page to a file that is no part of the site."""


def assemble(out: Path) -> None:
    """Write every page of the site into a folder."""
    pages = dict(_pages())
    out.mkdir(parents=True, exist_ok=True)
    for place, text in pages.items():
        path = out / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (out / "index.md").write_text(_index(set(pages)), encoding="utf-8")
    shutil.copytree(DOCS / "images", out / "images")
    for picture in (ROOT / "benchmarks" / "results").glob("*.png"):
        shutil.copy(picture, out / "measurements" / picture.name)


def _pages() -> Iterator[tuple[str, str]]:
    """Every page but the first: where it goes and what it says."""
    for path in sorted(DOCS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if path.stem == "methods":
            text = methods.overview(text)
        yield path.name, in_site(beside(text), f"docs/{path.name}", path.name)
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        yield name.lower(), in_site((ROOT / name).read_text(encoding="utf-8"), name, name.lower())
    yield "examples.md", _examples()
    for place, text in methods.pages((DOCS / "methods.md").read_text(encoding="utf-8")):
        yield place, in_site(text, "docs/methods.md", place)
    for origin, place, text in results.pages(ROOT):
        yield place, in_site(text, origin, place)
    yield from reference.pages()
    yield "reference/commands.md", commands_page()


def in_site(text: str, origin: str, place: str) -> str:
    """A page's text with its links leading to where their files are in the site.

    Args:
        text: Of the page.
        origin: The file in the repository that it comes from, from which links lead.
        place: Where it is in the site.
    """

    def moved(link: re.Match[str]) -> str:
        target, _, anchor = link[0].partition("#")
        if not target or re.match(r"[a-z]+:", target):
            return link[0]
        named = os.path.normpath(Path(origin).parent / target)
        found = os.path.relpath(_site_place(named, origin), Path(place).parent or ".")
        return f"{found}#{anchor}" if anchor else found

    parts = _FENCED.split(text)
    # The pattern has two groups: text, a whole fenced block, its fence, text, ...
    parts[::3] = [_LINK.sub(moved, part) for part in parts[::3]]
    return "".join(part for number, part in enumerate(parts) if number % 3 != 2)


def _site_place(named: str, origin: str) -> str:
    """Where a file of the repository is in the site."""
    path = Path(named)
    if named in _ELSEWHERE:
        return _ELSEWHERE[named]
    if path.parent.as_posix() in _FOLDERS:
        return f"{_FOLDERS[path.parent.as_posix()]}/{path.name}"
    if path.parts[0] == "docs" and (ROOT / path).exists():
        return path.relative_to("docs").as_posix()
    if path.parts[0] == "examples" and (ROOT / path).exists():
        return "examples.md"
    # Pages that are made: from one of docs/ to one of a method, say.
    if path.parts[0] == "docs" and path.parts[1] in ("methods", "reference", "results", "measurements"):
        return path.relative_to("docs").as_posix()
    raise DeadLink(f"{origin} links to {named}, which is not part of the site. Link to a page, or name the file.")


def beside(text: str) -> str:
    """Two blocks of code with nothing between them stand side by side where there is room."""
    block = r"```(?:python|text)\n(?:(?!```).)*?```\n"
    return re.sub(
        rf"^({block})\n({block})", r"::::{container} beside\n\1\n\2::::\n", text, flags=re.DOTALL | re.MULTILINE
    )


def _index(pages: set[str]) -> str:
    """The first page, with all others in the list at the side."""
    sections = {title: [name for name in names if f"{name}.md" in pages] for title, names in SECTIONS.items()}
    named = {name for names in sections.values() for name in names}
    sections["Guides"] += sorted(
        place.removesuffix(".md") for place in pages if "/" not in place and place.removesuffix(".md") not in named
    )
    trees = [
        "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *names, "```"])
        for title, names in sections.items()
        if names
    ]
    first = (
        (DOCS / "site" / "index.md").read_text(encoding="utf-8").replace("NUMBER", str(len(methods.families())))
    )
    return "\n\n".join([first, *trees]) + "\n"


def _examples() -> str:
    """The example scripts on one page, each with its first sentence."""
    parts = ["# Examples", "", "Each is a script of the folder `examples`, which the tests run as it stands."]
    for path in sorted((ROOT / "examples").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        said = code.split('"""')[1].split("\n")[0]
        parts += ["", f"## {path.stem.replace('_', ' ').capitalize()}", "", said, ""]
        parts += [f"`examples/{path.name}`", "", "```python", code.rstrip(), "```"]
    return "\n".join(parts) + "\n"
