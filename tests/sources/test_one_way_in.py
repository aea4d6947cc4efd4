"""Files from outside are opened by the few functions that check them; whoever opens one otherwise is found."""

import ast
from pathlib import Path

import lcgnn.sources

ROOT = Path(lcgnn.sources.__path__[0])

# What reads a format, and the one module that may; files of benchmarks are known by their checksums.
ONLY = {
    "np.load": "nowhere, since it trusts a header",
    "np.memmap": "npy.py",
    "np.frombuffer": "npy.py",
    "json.loads": "described.py",
    "json.load": "described.py",
    "read_json": "described.py",
    "parquet.read_table": "tables/parquet.py",
    "parquet.ParquetFile": "tables/parquet.py",
    "arrow_csv.read_csv": "tables/files.py",
    "load_file": "parts/files.py",
    "zipfile.ZipFile": "npz.py",
}


def test_every_format_is_read_in_one_place() -> None:
    found = []
    for path in sorted(set(ROOT.rglob("*.py")) - set((ROOT / "benchmarks").rglob("*.py"))):
        place = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if ONLY.get(called, place) != place:
                found.append(f"{place}, line {node.lineno}: {called} is for {ONLY[called]}")
    assert not found
