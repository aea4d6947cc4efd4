"""The small graph that is cut into parts here, and trained on by ranks in another folder."""

from collections.abc import Callable

import pytest

from lcgnn.graph import Graph, Split
from tests.ranks.conftest import make_small_graph


@pytest.fixture(scope="session")
def small_graph() -> Callable[..., tuple[Graph, Split]]:
    return make_small_graph
