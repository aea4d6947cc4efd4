import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lcgnn.errors import OutputError
from lcgnn.files import (
    folder_written_atomically,
    process_token,
    read_json,
    temporary_folder,
    write_json,
    written_atomically,
)


def test_what_is_written_can_be_read(tmp_path: Path) -> None:
    write_json(tmp_path / "new" / "folder" / "file.json", {"a": [1, None]})
    assert read_json(tmp_path / "new" / "folder" / "file.json") == {"a": [1, None]}


def test_a_failed_write_keeps_the_old_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_json(path, 1)
    with pytest.raises(TypeError):
        write_json(path, {"half": object()})
    assert read_json(path) == 1
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file/inside\.json"):
        write_json(tmp_path / "file" / "inside.json", 1)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"a": 1'])
def test_a_damaged_file_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(content)
    with pytest.raises(OutputError, match=r"file\.json"):
        read_json(path)


def test_a_full_disk_is_said_and_keeps_the_old_file(tmp_path: Path) -> None:
    write_json(tmp_path / "file.json", 1)
    # A process that may write files of 100 bytes at most meets the same error as one on a full disk.
    code = (
        "import resource, pathlib; from lcgnn.files import write_json;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100));"
        "write_json(pathlib.Path('file.json'), 'x' * 1000)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "OutputError: Cannot write file.json: File too large." in done.stderr
    assert read_json(tmp_path / "file.json") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file.json"]


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = process_token().partition("@")[2]
    left = tmp_path / f".file.json.{ended.pid}@{host}.abc"
    others = [
        tmp_path / f".file.json.{os.getpid()}@{host}.abc",
        tmp_path / f".other.{ended.pid}@{host}.abc",
        tmp_path / f".file.json.{ended.pid}@another-{host}.abc",
        tmp_path / ".file.json",
    ]
    for path in (left, *others):
        path.write_text("half")
    write_json(tmp_path / "file.json", 1)
    assert not left.exists()
    assert all(path.exists() for path in others)


def test_a_folder_that_a_killed_process_left_half_written_is_removed_by_the_next(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, signal; from lcgnn.files import folder_written_atomically as written;\n"
        "with written(pathlib.Path('graph')) as folder:\n"
        "    (folder / 'half').write_text('x'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with folder_written_atomically(tmp_path / "graph") as folder:
        (folder / "whole").write_text("x")
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")] == ["graph", "graph/whole"]


def test_temporary_folders_of_processes_that_are_no_more_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = process_token().partition("@")[2]
    left, elsewhere = (tmp_path / f"lcgnn-parts.{ended.pid}@{name}.abc" for name in (host, f"another-{host}"))
    for folder in (left, elsewhere):
        folder.mkdir()
    made = temporary_folder("parts")
    assert sorted(tmp_path.iterdir()) == sorted([made, elsewhere])


def test_no_room_for_temporary_files_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(
        OutputError, match=r"No temporary files can be made: No such file or directory\. .* TMPDIR"
    ):
        temporary_folder("parts")
    # A process that may write files of 100 bytes at most meets the same errors as one on a full disk.
    code = (
        "import resource; from lcgnn.compute.placement.in_turn import disk_tensor;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100));"
        "disk_tensor(100, 100)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "OutputError: 0.0 GB of temporary files cannot be made: File too large." in done.stderr


def test_a_name_as_long_as_the_file_system_takes_can_be_written_and_a_longer_one_is_told(tmp_path: Path) -> None:
    write_json(tmp_path / f"{'x' * 250}.json", 1)
    with pytest.raises(OutputError, match="the name has 305 bytes, and there can be 255"):
        write_json(tmp_path / f"{'x' * 300}.json", 1)


UMASKS = pytest.mark.parametrize(("mask", "of_file", "of_folder"), [(0o077, 0o600, 0o700), (0o002, 0o664, 0o775)])


@pytest.fixture
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    yield
    os.umask(before)


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@UMASKS
@pytest.mark.usefixtures("umask")
def test_files_and_folders_get_the_permissions_that_the_umask_leaves(
    mask: int, of_file: int, of_folder: int, tmp_path: Path
) -> None:
    write_json(tmp_path / "new" / "file.json", 1)
    with folder_written_atomically(tmp_path / "folder") as temporary:
        write_json(temporary / "inside.json", 1)
    assert permissions(tmp_path / "new" / "file.json") == of_file
    assert permissions(tmp_path / "folder" / "inside.json") == of_file
    assert [permissions(tmp_path / name) for name in ("new", "folder")] == [of_folder] * 2


@UMASKS
@pytest.mark.usefixtures("umask")
def test_a_library_that_puts_a_private_file_in_its_place_does_not_change_them(
    mask: int, of_file: int, of_folder: int, tmp_path: Path
) -> None:
    with written_atomically(tmp_path / "file") as temporary:
        handle, name = tempfile.mkstemp(dir=tmp_path)
        os.close(handle)
        Path(name).replace(temporary)
    assert permissions(tmp_path / "file") == of_file
