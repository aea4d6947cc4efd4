"""The pictures of docs/labelling.md, made by the page itself on Cora with a simulated labeller.

``LCGNN_PICTURES=docs/images pytest tests/labelling/page/test_pictures.py`` puts them there; it takes a
minute, and without a place for them they are not made.
"""

import io
import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.labelling.page.serving import Served

from lcgnn.sources.benchmarks import benchmark

LABELS = 35


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    if "LCGNN_PICTURES" not in os.environ:
        pytest.skip("Pictures are made where LCGNN_PICTURES names a folder for them.")
    if not benchmark("cora").is_here():
        pytest.skip("Cora is not on this machine.")
    serving = Served("cora", tmp_path / "labels.csv", "--simulate")
    yield serving
    serving.kill()


def save(page: Any, name: str, folder: Path) -> None:
    """A picture of the window, of 256 colours, which is a third of the size."""
    # Median cut, the default, would lose the colours of classes with few nodes.
    shown = (
        Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE)
    )
    shown.save(folder / f"label-{name}.png", optimize=True)
    assert (folder / f"label-{name}.png").stat().st_size < 250_000


def given(page: Any) -> int:
    found = re.match(r"(\d+) label", page.locator("#tally").inner_text())
    return int(found[1]) if found else 0


def test_the_pictures_of_the_docs_are_made_on_cora(served: Served, visit: Callable[..., Any]) -> None:
    folder = Path(os.environ["LCGNN_PICTURES"])
    page = served.open(visit, wide=1440, high=900)
    page.locator("#simulator").click()
    deadline = time.monotonic() + 120
    while given(page) < LABELS:
        assert time.monotonic() < deadline, page.locator("body").inner_text()
        page.wait_for_timeout(100)
    page.locator("#simulator").click()
    page.locator("#training", has_text="Trained on").wait_for()
    page.locator("svg.curve").wait_for()
    page.keyboard.press("n")
    page.locator("#card").focus()
    page.mouse.move(5, 5)
    page.wait_for_timeout(1000)
    save(page, "light", folder)
    page.emulate_media(color_scheme="dark")
    page.keyboard.press("e")
    page.locator(".explanation h3", has_text="Why").wait_for()
    page.wait_for_timeout(1000)
    save(page, "dark", folder)
    narrow = served.open(visit, wide=390, high=844, device_scale_factor=1, has_touch=True, is_mobile=True)
    narrow.wait_for_timeout(1000)
    save(narrow, "narrow", folder)
