"""Options from a file: a TOML file of the user's own, or the configuration of a run folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from lcgnn.errors import ConfigError
from lcgnn.files import read_json, read_toml


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Let the file say what an option is that is not given; what is given stays."""
    if path is not None:
        context.default_map = {**(context.default_map or {}), **_options(path, context.command)}
    return path


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        callback=read_config,
        is_eager=True,
        help="Options from a TOML file, such as seeds = 5, those of the method under [settings]; or the folder of "
        "a run, to do the same again. What is given here as well counts.",
    ),
]


def _options(path: Path, command: Any) -> dict[str, Any]:
    """What the file says, by the names of the command's parameters."""
    if path.is_dir() or path.suffix == ".json":
        given = _of_run(path / "config.json" if path.is_dir() else path)
    else:
        given = read_toml(path)
    known = {_key(item): item for item in command.params}
    settings = given.pop("settings", {})
    if not isinstance(settings, Mapping):
        raise ConfigError(f"{path}: settings is a table of its own: write [settings] and a line for each.")
    found: dict[str, Any] = {}
    for name, value in given.items():
        item = known.get(name.replace("_", "-"))
        if item is None or item.name is None or item.name == "_config":
            raise ConfigError(f"{path}: there is no option {name!r}. 'lcgnn {command.name} --help' lists them.")
        found[item.name] = _checked(path, name, value, item)
    if settings:
        texts = [f"{name}={json.dumps(value)}" for name, value in settings.items()]
        found["set_"] = [*found.get("set_", []), *texts]
    return found


def _key(item: Any) -> str:
    """What a parameter is called in a file: its long option without the dashes, an argument by its name."""
    long = [name for name in item.opts if name.startswith("--")]
    return long[0].removeprefix("--") if long else str(item.name)


def _checked(path: Path, name: str, value: Any, item: Any) -> Any:
    several = getattr(item, "multiple", False)
    values = value if several and isinstance(value, list) else [value]
    if not all(isinstance(one, (str, int, float)) for one in values):
        raise ConfigError(
            f"{path}: {name} = {value!r} cannot be read; give {'a list' if several else 'one value'}."
        )
    return [str(one) for one in values] if several else value


def _of_run(path: Path) -> dict[str, Any]:
    """What has to be given to train as a run folder was trained."""
    from lcgnn.runs.choice.candidates import AUTO
    from lcgnn.runs.records import Configuration

    if not path.exists():
        raise ConfigError(f"{path} is not there: give a TOML file, or a folder that 'lcgnn train' wrote.")
    found = Configuration.from_json(read_json(path), str(path))
    split = found.split.spec
    given = {
        "dataset": found.dataset,
        "method": found.method,
        "split": split.kind,
        "split_seed": split.seed,
        "labels_per_class": split.labels_per_class,
        "labels": split.labels,
        "validation": split.validation,
        # Of several methods that are tried, each has settings of its own, which are its defaults.
        "settings": {} if found.method == AUTO else dict(found.settings),
    }
    return {name: value for name, value in given.items() if value is not None}
