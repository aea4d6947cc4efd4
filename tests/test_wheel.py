"""The wheel holds all that the package needs: built, installed into an empty environment, used from elsewhere."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lcgnn.files import read_toml

REPOSITORY = Path(__file__).parents[1]
VERSION = read_toml(REPOSITORY / "pyproject.toml")["project"]["version"]


def run(*command: str, folder: Path, **environment: str) -> str:
    """What a command prints; it must end well. No other installation is found through the environment."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "", **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the files that the repository keeps, copied so that building leaves nothing among them."""
    folder = tmp_path_factory.mktemp("wheel")
    kept = ("pyproject.toml", "README.md", "LICENSE", "src")
    for source in (REPOSITORY / name for name in kept):
        for path in [source, *source.rglob("*")]:
            if path.is_file() and "egg-info" not in str(path) and path.suffix not in (".pyc", ".nbi", ".nbc"):
                copy = folder / "source" / path.relative_to(REPOSITORY)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", ".", "./source", folder=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel; it finds the libraries of this one but not its lcgnn."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", str(folder), folder=folder)
    python = folder / "bin" / "python"
    place = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(str(python), "-c", place, folder=folder).strip())
    libraries = Path(run(sys.executable, "-c", place, folder=folder).strip())
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]
    run(*pip, "install", "--no-deps", "--no-index", str(wheel), folder=folder)
    # A line of a .pth file adds a folder at the end; its own .pth files, of editable installations, are not read.
    (site / "libraries.pth").write_text(f"{libraries}\n", encoding="utf-8")
    return python


def test_the_wheel_holds_the_package_with_its_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    source = REPOSITORY / "src"
    wanted = (".py", ".toml", ".j2", ".css", ".js", ".html", ".svg", ".txt", ".typed", ".json")
    package = (path for path in (source / "lcgnn").rglob("*") if path.suffix in wanted)
    assert names == {path.relative_to(source).as_posix() for path in package}
    assert {Path(name).suffix for name in names} == set(wanted)


def test_an_installed_wheel_makes_a_graph_and_trains_on_it(python: Path, tmp_path: Path) -> None:
    def lcgnn(*arguments: str) -> str:
        return run(str(python), "-m", "lcgnn", *arguments, folder=tmp_path, LCGNN_KERNELS="plain")

    place = run(str(python), "-c", "import lcgnn; print(lcgnn.__file__)", folder=tmp_path)
    assert Path(place.strip()).is_relative_to(python.parents[1])
    assert lcgnn("--version") == f"lcgnn {VERSION}\n"
    lcgnn("init", "graph")
    lcgnn("train", "graph", "--no-estimate", "--base-epochs", "3", "--epochs", "3", "--out", "run")
    assert (tmp_path / "run" / "seed-0" / "predictions.csv").exists()
    assert "deepwalk" in lcgnn("methods")


def test_the_command_is_installed_with_the_wheel(python: Path, tmp_path: Path) -> None:
    shown = run(str(python.with_name("lcgnn")), "--version", folder=tmp_path)
    assert shown == f"lcgnn {VERSION}\n"
