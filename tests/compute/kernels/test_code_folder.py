"""Where machine code is kept, and what its folder's name depends on."""

import os
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path

import platformdirs
import pytest

from lcgnn.compute.kernels.code_folder import code_folder, code_name

VERSIONS = {"numba": "1.0", "llvmlite": "2.0", "processor": "skylake"}
NAME, OTHER = f"code-{'0' * 24}", f"code-{'1' * 24}"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Neither a folder for numba, nor one of the user's, nor one among the temporary files can be written to."""
    file = tmp_path / "file"
    file.touch()
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: file / "cache")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(file))
    return tmp_path


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return Path(shutil.copytree(str(files("lcgnn.compute.kernels.compiled")), tmp_path / "compiled"))


@pytest.mark.parametrize("file", ["lanes.py", "jit.py", "prefetch.py", "csr.py"])
def test_a_change_of_a_kernel_or_of_what_it_is_written_in_gives_another_name(file, sources):
    before = code_name(VERSIONS, sources)
    assert before == code_name(VERSIONS)
    (sources / file).write_text((sources / file).read_text().replace("float32", "float64", 1) + "\n")
    assert code_name(VERSIONS, sources) != before


def test_what_is_no_source_text_does_not_matter(sources):
    before = code_name(VERSIONS, sources)
    (sources / "__pycache__").mkdir(exist_ok=True)
    (sources / "notes.txt").touch()
    assert code_name(VERSIONS, sources) == before


@pytest.mark.parametrize("what", VERSIONS)
def test_another_version_or_processor_gives_another_name(what):
    assert code_name({**VERSIONS, what: "other"}) != code_name(VERSIONS)


def test_settings_of_numba_that_change_the_code_give_another_name(monkeypatch):
    before = code_name(VERSIONS)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert code_name(VERSIONS) == before
    monkeypatch.setenv("NUMBA_OPT", "1")
    assert code_name(VERSIONS) != before


def test_numbas_folder_comes_first_then_the_users_then_one_among_the_temporary_files(nowhere, monkeypatch):
    assert code_folder(NAME) is None
    (nowhere / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(nowhere / "temporary"))
    assert code_folder(NAME) == nowhere / "temporary" / f"lcgnn-{os.getuid()}" / NAME
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: nowhere / "cache")
    assert code_folder(NAME) == nowhere / "cache" / "kernels" / NAME
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(nowhere / "numba"))
    assert code_folder(NAME) == nowhere / "numba" / "lcgnn" / NAME


def test_a_user_without_a_home_gets_no_folder_that_is_called_tilde(nowhere, monkeypatch):
    monkeypatch.chdir(nowhere)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *_, **__: Path("~/.cache/lcgnn"))
    assert code_folder(NAME) is None
    assert not (nowhere / "~").exists()


@pytest.mark.parametrize("how", ["others may write", "a link", "another user's"])
def test_a_temporary_folder_that_others_have_access_to_is_not_used(how, nowhere, monkeypatch):
    """Machine code from there would be theirs."""
    folder = nowhere / f"lcgnn-{os.getuid()}"
    if how == "a link":
        (nowhere / "elsewhere").mkdir(mode=0o700)
        folder.symlink_to(nowhere / "elsewhere")
    else:
        folder.mkdir(mode=0o700)
    if how == "others may write":
        folder.chmod(0o770)
    elif how == "another user's":
        if os.getuid() != 0:
            pytest.skip("Only root can give a folder away.")
        os.chown(folder, 65534, 65534)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(nowhere))
    assert code_folder(NAME) is None


def test_without_any_place_for_temporary_files_there_is_none_for_code(nowhere, monkeypatch):
    def fail() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", fail)
    assert code_folder(NAME) is None


def test_the_folders_that_were_used_last_stay_and_what_is_not_ours_stays_too(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    place = tmp_path / "lcgnn"
    old = [place / f"code-{number:024x}" for number in range(2, 22)]
    for age, folder in enumerate(old):
        folder.mkdir(parents=True)
        (folder / "kernel.nbc").touch()
        os.utime(folder, (1e9 - age, 1e9 - age))
    foreign = place / "code-of-mine"
    foreign.mkdir()
    assert code_folder(NAME) == place / NAME
    assert set(place.iterdir()) == {foreign, place / NAME, *old[:7]}
    assert code_folder(str(old[6].name)) == old[6]
    assert code_folder(OTHER) == place / OTHER
    assert set(place.iterdir()) == {foreign, place / NAME, place / OTHER, old[6], *old[:5]}
