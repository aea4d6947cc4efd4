"""What the release is made of: the same bytes every time, and no more than users need."""

import gzip
import io
import re
import tarfile
from pathlib import Path

import pytest
from tools import archives, release

ROOT = Path(__file__).parents[1]


def pack(path: Path, time: int, names: list[str], owner: str) -> None:
    with path.open("wb") as file, gzip.GzipFile(path.name, "wb", 6, file, time) as packed:  # noqa: SIM117
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name in names:
                member = tarfile.TarInfo(name)
                member.size, member.mtime, member.uname, member.mode = len(name), time, owner, 0o664
                archive.addfile(member, io.BytesIO(name.encode()))


def test_an_archive_is_the_same_whoever_packs_it_and_when(tmp_path: Path) -> None:
    one, two = tmp_path / "one.tar.gz", tmp_path / "two.tar.gz"
    pack(one, 1000, ["a/x", "a/y"], "ann")
    pack(two, 2000, ["a/y", "a/x"], "bob")
    for path in (one, two):
        archives.repack(path, 1234)
    assert one.read_bytes() == two.read_bytes()
    with tarfile.open(one) as archive:
        assert [(item.name, item.mtime, item.mode, item.uname) for item in archive] == [
            ("a/x", 1234, 0o644, ""),
            ("a/y", 1234, 0o644, ""),
        ]
        assert archive.extractfile("a/y").read() == b"a/y"


@pytest.mark.parametrize(
    ("names", "told"), [({"a"}, r"lacks \['b'\]"), ({"a", "b", "tests"}, r"not have \['tests'\]")]
)
def test_what_is_missing_or_should_not_be_there_is_told(names: set[str], told: str) -> None:
    with pytest.raises(archives.Fault, match=told):
        archives._compare(Path("lcgnn.whl"), names, {"a", "b"})


def test_the_commands_that_are_tried_are_those_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in release.COMMANDS[3:]:
        name = " ".join(command.split()[:2])
        assert re.search(rf"^{name}", readme, re.MULTILINE), command
    assert "lcgnn.train(" in release._six_lines()


def test_the_container_copies_what_is_there_and_runs_as_nobody_special() -> None:
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    copied = [
        name for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE) for name in line.split()[:-1]
    ]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    assert "USER lcgnn" in text.split("FROM")[-1]
