"""A page for every family of methods, from the registry, docs/methods.md and the records of the runs."""

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from docs.site.accuracy import accuracy_tables, headline, seconds_table

from lcgnn.files import read_toml
from lcgnn.methods import Method, create
from lcgnn.methods.base import Entry, dataset_defaults, entries, settings_of

_NAMES = re.compile(r"\(`([\w-]+)`.*\)$")
_PARTS = {"Departure": "What departs from the original", "Higher": "Beside the paper's row"}
_MARK = re.compile(r"\*(Departures?|Higher than|Slightly higher)([^*]*)\*:?\s*")


def families() -> dict[str, list[Entry]]:
    """The registered methods, those that share a network together; the plain one first, then label consistency."""
    found: dict[str, list[Entry]] = {}
    for item in entries():
        found.setdefault(item.family, []).append(item)
    return {name: sorted(items, key=lambda item: item.name != name) for name, items in sorted(found.items())}


@cache
def papers() -> dict[str, str]:
    """Where the families come from."""
    return read_toml(Path(__file__).parent / "papers.toml")


def sections(page: str) -> dict[str, tuple[str, str]]:
    """Of docs/methods.md, what it calls each family and what it says of it."""
    found = {}
    for section in re.split(r"^### ", page, flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        named = _NAMES.search(title)
        if named:
            found[named[1]] = (
                title[: named.start()].strip(),
                re.split(r"^## ", text, flags=re.MULTILINE)[0].strip(),
            )
    return found


def overview(page: str) -> str:
    """docs/methods.md without the sections that have pages of their own, and with a table of these."""
    kept = []
    for part in re.split(r"(?=^#{2,3} )", page, flags=re.MULTILINE):
        heading = part.partition("\n")[0]
        if not _NAMES.search(heading) and "compares with" not in heading:
            kept.append(part)
    told = sections(page)
    table = ["| method | | Cora | Citeseer | PubMed |", "|---|---|---:|---:|---:|"]
    for name, items in families().items():
        title = told.get(name, (name,))[0]
        figures = " | ".join(headline(name, dataset) for dataset in ("cora", "citeseer", "pubmed"))
        said_of_it = items[0].summary if len(items) == 1 else _first_line(items[0].method)
        table.append(f"| [{title}](methods/{name}.md) | {said_of_it} | {figures} |")
    said = (
        "## All of them\n\nTest accuracy in percent on the public splits, mean over the seeds that were run; of a "
        "network, without and → with label consistency. Where a figure is missing, it has not been run."
    )
    tree = "\n".join(["```{toctree}", ":hidden:", "", *(f"methods/{name}" for name in families()), "```"])
    head, *others = kept
    return "\n\n".join([head, said, "\n".join(table), *others, tree])


def pages(page: str) -> Iterator[tuple[str, str]]:
    """Where the page of a family goes and what it says.

    Args:
        page: The text of docs/methods.md.
    """
    told = sections(page)
    for name, items in families().items():
        title, text = told.get(name, (name, items[0].method.__doc__ or ""))
        yield f"methods/{name}.md", _page(name, items, title, text)


def _page(name: str, items: list[Entry], title: str, text: str) -> str:
    method = items[0].method
    parts = [f"# {title}", *_told(text)]
    if name in papers():
        parts.insert(1, f"**Paper.** {papers()[name]}.")
    parts += ["## Names", _names(items), "## Example", _example(items)]
    parts += accuracy_tables(name) + seconds_table(name)
    parts += ["## Settings", _settings(items[-1] if len(items) == 1 else _full(items), method)]
    defaults = dataset_defaults().get(name, {})
    if defaults:
        parts += ["On the benchmark graphs some have other defaults:", _defaults(defaults)]
    return "\n\n".join(parts) + "\n"


def _first_line(method: type[Method]) -> str:
    return (inspect.getdoc(method) or "").partition("\n")[0]


def _told(text: str) -> Iterator[str]:
    """What docs/methods.md says, its departures under a heading of their own."""
    before, *rest = _MARK.split(text)
    yield before.strip()
    for kind, further, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        said = after.strip().lstrip(": ")
        if kind.startswith("Departure"):
            yield f"## {_PARTS['Departure']}"
            yield said[:1].upper() + said[1:]
        else:
            yield f"## {_PARTS['Higher']}"
            yield f"{kind}{further} {said}"


def _names(items: list[Entry]) -> str:
    rows = [f"| `{item.name}` | {item.summary} |" for item in items]
    return "\n".join(["| name | what it is |", "|---|---|", *rows])


def _full(items: list[Entry]) -> Entry:
    """The one whose settings say most: label consistency, where there is one."""
    return next((item for item in items if item.name.startswith("lc-")), items[0])


def _example(items: list[Entry]) -> str:
    name = _full(items).name if len(items) > 1 else items[0].name
    shown = [
        f"```sh\nlcgnn train cora --method {name}\n```",
        f'```python\nimport lcgnn\n\ngraph, split = lcgnn.load("cora")\nfit = lcgnn.create("{name}", "cora").fit'
        "(graph, split, seed=0)\nprint(fit.label_distribution[split.test].argmax(axis=1))\n```",
    ]
    return "\n\n".join(shown)


def _settings(item: Entry, method: type[Method]) -> str:
    made = create(item.name)
    rows = [
        f"| `{key}` | `{json.dumps(getattr(made, key))}` | {field.metadata.get('help', '')} |"
        for key, field in settings_of(method).items()
    ]
    said = f"The defaults are those of `{item.name}`. `--set NAME=VALUE` changes one, as do keywords of `create`."
    return "\n".join([said, "", "| setting | default | what it does |", "|---|---|---|", *rows])


def _defaults(defaults: Mapping[str, Mapping[str, object]]) -> str:
    keys = list(dict.fromkeys(key for section in defaults.values() for key in section))
    datasets = list(defaults)
    head = [
        "| setting | " + " | ".join(f"`{name}`" for name in datasets) + " |",
        "|---" * (len(datasets) + 1) + "|",
    ]
    rows = [
        f"| `{key}` | "
        + " | ".join(json.dumps(defaults[name][key]) if key in defaults[name] else "" for name in datasets)
        for key in keys
    ]
    return "\n".join([*head, *(f"{row} |" for row in rows)])
