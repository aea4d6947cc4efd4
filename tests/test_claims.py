"""Claims: one process at a time, and none that is no more keeps others waiting."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lcgnn.claims import claimed, try_claim
from lcgnn.errors import OutputError
from lcgnn.files import process_token


def test_a_claim_is_one_process_s_until_it_is_given_back(tmp_path: Path) -> None:
    claim = try_claim(tmp_path / "folder" / "it")
    assert claim is not None
    assert try_claim(claim.path) is None
    claim.give_back()
    assert not claim.path.exists()
    with claimed(claim.path):
        assert try_claim(claim.path) is None
    assert try_claim(claim.path) is not None


def test_a_claim_of_a_process_that_is_no_more_is_void_and_that_of_another_machine_only_after_a_while(
    tmp_path: Path,
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = process_token().partition("@")[2]
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.write_text(f"{ended.pid}@{host}", encoding="utf-8")
    elsewhere.write_text(f"{ended.pid}@another-{host}", encoding="utf-8")
    assert try_claim(here) is not None
    assert try_claim(elsewhere) is None
    os.utime(elsewhere, (time.time() - 1000,) * 2)
    assert try_claim(elsewhere) is not None


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell")
def test_a_claim_of_a_process_that_has_ended_but_was_not_waited_for_is_void(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    while Path(f"/proc/{ended.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    (tmp_path / "it").write_text(f"{ended.pid}@{process_token().partition('@')[2]}", encoding="utf-8")
    assert try_claim(tmp_path / "it") is not None
    ended.wait()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(OutputError, match="file/it"):
        try_claim(tmp_path / "file" / "it")
