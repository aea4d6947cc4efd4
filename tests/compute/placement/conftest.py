"""The small graph that is cut into parts here, and trained on by ranks in another folder."""

from collections.abc import Callable

import pytest
from tests.ranks.conftest import make_small_graph

from lcgnn.graph import Graph, Split


@pytest.fixture(scope="session")
def small_graph() -> Callable[..., tuple[Graph, Split]]:
    return make_small_graph
