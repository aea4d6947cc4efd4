"""The colours of the classes, as people with every kind of colour vision see them."""

import itertools
import re
from importlib.resources import files

import numpy as np
import pytest
from numpy.typing import NDArray

# Machado, Oliveira and Fernandes (2009), severity 1, for linear RGB.
VISIONS = {
    "full": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# Ottosson (2020): from linear RGB to cone responses, and from their cube roots to OKLab.
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def oklab(linear: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.cbrt(np.clip(linear, 0, 1) @ TO_CONES.T) @ TO_LAB.T)


def palette() -> NDArray[np.float64]:
    """The colours of the first classes, in linear RGB."""
    text = files("lcgnn.labelling").joinpath("static", "colours.js").read_text(encoding="utf-8")
    written = re.search(r"PALETTE = \[(.*)\]", text)
    assert written is not None
    shown = [
        [int(name[at : at + 2], 16) / 255 for at in (0, 2, 4)] for name in re.findall(r"#(\w{6})", written[1])
    ]
    colours = np.array(shown)
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("vision", VISIONS)
def test_no_two_of_the_first_eight_classes_look_alike(vision: str) -> None:
    seen = oklab(palette() @ VISIONS[vision].T)
    assert len(seen) == 8
    # Black and white are 1 apart; the palette of Okabe and Ito, made for this, comes down to 0.076.
    assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(seen, 2)) > 0.12
