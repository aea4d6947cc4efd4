"""Graphs from and to PyTorch Geometric's `Data`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from lcgnn.errors import DataError
from lcgnn.extras import need
from lcgnn.graph import UNLABELLED, Features, Graph, Split
from lcgnn.sources.in_memory import check_distinct

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data

_MASKS = {"train": "train_mask", "validation": "val_mask", "test": "test_mask"}


def to_pyg(graph: Graph, split: Split | None = None, *, sparse_features: bool = False) -> Data:
    """The graph as PyTorch Geometric's `Data`, from which `from_pyg` makes the same graph again.

    Both directions of every edge are in `edge_index`; `edge_weight` is there unless all weights are 1.
    Names are kept in `name`, `class_names`, `node_names` and `split_name`, and the number of the source's
    links in `num_source_links`. A mask keeps no order: the parts of a split come back in node order.

    Args:
        graph: The graph.
        split: Becomes `train_mask`, `val_mask` and `test_mask`.
        sparse_features: Make `x` a torch CSR tensor instead of a dense one.
    """
    torch, data_class = _libraries()
    edges = coo_array(graph.adjacency)
    data = data_class(
        edge_index=torch.tensor(np.stack([edges.row, edges.col]), dtype=torch.int64),
        y=torch.tensor(graph.labels),
        name=graph.name,
        class_names=list(graph.class_names),
    )
    data.num_nodes = graph.num_nodes
    if (edges.data != 1).any():
        data.edge_weight = torch.tensor(edges.data)
    if graph.features is not None:
        data.x = _csr_tensor(graph.features) if sparse_features else torch.tensor(_dense(graph.features))
    if graph.node_names is not None:
        data.node_names = graph.node_names.tolist()
    if graph.num_source_links is not None:
        data.num_source_links = graph.num_source_links
    if split is not None:
        split.check(graph)
        data.split_name = split.name
        for part, mask_name in _MASKS.items():
            mask = torch.zeros(graph.num_nodes, dtype=torch.bool)
            mask[torch.tensor(getattr(split, part))] = True
            data[mask_name] = mask
    return data


def from_pyg(data: Data, *, name: str = "graph", undirected: bool = False) -> tuple[Graph, Split | None]:
    """The graph in a PyTorch Geometric `Data`, and the split in its masks if it has any.

    Args:
        data: Needs `edge_index`; may have `x`, `y` (-1: unknown), `edge_weight` or `edge_attr`, and masks.
        name: What to call the graph if `data` does not say.
        undirected: Take every link as an edge: directions and duplicates are merged (of several weights
            the largest counts) and self-loops dropped. Without it links must come in both directions.
    """
    graph, split = read_pyg(data, name=name, undirected=undirected)
    if split is not None:
        split.check(graph)
    return graph, split


def read_pyg(data: Data, *, name: str = "graph", undirected: bool = False) -> tuple[Graph, Split | None]:
    """As `from_pyg`; whether the split does for training is not looked at."""
    name = str(_field(data, "name") or name)
    edges, weights = _edges(data, name)
    labels = _labels(data, name)
    class_names = _field(data, "class_names") or [str(c) for c in range(int(labels.max(initial=-1)) + 1)]
    node_names = _field(data, "node_names")
    optional: dict[str, Any] = {
        "features": _features(data),
        "node_names": None if node_names is None else np.array(node_names, dtype=np.str_),
        "num_source_links": _field(data, "num_source_links"),
    }
    check_distinct(node_names)
    if undirected:
        graph = Graph.from_edges(name, edges, labels.size, labels, class_names, weights=weights, **optional)
    else:
        adjacency = _adjacency(name, edges, weights, labels.size)
        graph = Graph(name, adjacency, labels, tuple(class_names), **optional)
    return graph, _split(data, graph)


def _libraries() -> tuple[Any, Any]:
    import torch

    return torch, need("torch_geometric.data", "A graph of PyTorch Geometric").Data


def _field(data: Data, field: str) -> Any:
    return getattr(data, field, None)


def _edges(data: Data, name: str) -> tuple[NDArray[np.int64], NDArray[np.float32] | None]:
    edge_index = _field(data, "edge_index")
    if edge_index is None:
        raise DataError(f"{name}: the data has no edge_index. Give one, of shape (2, M).")
    edges = np.asarray(edge_index.cpu().numpy(), dtype=np.int64)
    weight_field = "edge_weight" if "edge_weight" in data else "edge_attr"
    weights = _field(data, weight_field)
    if weights is None:
        return edges, None
    weights = np.asarray(weights.detach().cpu().numpy(), dtype=np.float32)
    if weights.size != edges.shape[-1]:
        raise DataError(
            f"{name}: {weight_field} of shape {weights.shape} for {edges.shape[-1]} edges. "
            "Give one weight per edge as edge_weight."
        )
    return edges, weights.ravel()


def _adjacency(
    name: str, edges: NDArray[np.int64], weights: NDArray[np.float32] | None, num_nodes: int
) -> csr_array:
    """The edges as they stand; DataError if one is listed twice or only in one direction."""
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise DataError(f"{name}: edge_index must have shape (2, M), not {edges.shape}.")
    if edges.size and not 0 <= edges.min() <= edges.max() < num_nodes:
        raise DataError(f"{name}: edge_index names a node outside 0..{num_nodes - 1}.")
    advice = "Call from_pyg with undirected=True to merge links into undirected edges."
    values = np.ones(edges.shape[1], dtype=np.float32) if weights is None else weights
    adjacency = csr_array((values, (edges[0], edges[1])), shape=(num_nodes, num_nodes))
    if adjacency.nnz < edges.shape[1]:
        raise DataError(f"{name}: edge_index lists an edge more than once. {advice}")
    if (adjacency != adjacency.T).nnz:
        raise DataError(f"{name}: edge_index is directed, or weights differ by direction. {advice}")
    return adjacency


def _labels(data: Data, name: str) -> NDArray[np.int64]:
    labels = _field(data, "y")
    if labels is None:
        return np.full(int(data.num_nodes or 0), UNLABELLED)
    labels = labels.cpu().numpy()
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise DataError(
            f"{name}: y must hold one class number per node, not {labels.dtype} of shape {labels.shape}."
        )
    return np.asarray(labels, dtype=np.int64)


def _features(data: Data) -> Features | None:
    x = _field(data, "x")
    if x is None:
        return None
    torch, _ = _libraries()
    x = x.detach().cpu()
    if x.layout == torch.strided:
        return np.asarray(x.numpy(), dtype=np.float32)
    x = x.to_sparse_coo().coalesce()
    rows, columns = x.indices().numpy()
    return csr_array(coo_array((x.values().numpy(), (rows, columns)), shape=tuple(x.shape)))


def _split(data: Data, graph: Graph) -> Split | None:
    if not any(mask_name in data for mask_name in _MASKS.values()):
        return None
    train, validation, test = (_nodes(data, mask_name, graph) for mask_name in _MASKS.values())
    return Split(train, validation, test, str(_field(data, "split_name") or "custom"))


def _nodes(data: Data, mask_name: str, graph: Graph) -> NDArray[np.int64]:
    mask = _field(data, mask_name)
    if mask is None:
        return np.empty(0, dtype=np.int64)
    mask = mask.cpu().numpy()
    if mask.ndim == 2:
        raise DataError(
            f"{graph.name}: {mask_name} holds {mask.shape[1]} splits. "
            f"Pick one first: data.{mask_name} = data.{mask_name}[:, 0]."
        )
    if mask.shape != (graph.num_nodes,) or mask.dtype != np.bool_:
        raise DataError(
            f"{graph.name}: {mask_name} must hold True or False for each of {graph.num_nodes} nodes, "
            f"not {mask.dtype} of shape {mask.shape}."
        )
    return np.flatnonzero(mask)


def _dense(features: Features) -> NDArray[np.float32]:
    return features.toarray() if isinstance(features, csr_array) else features


def _csr_tensor(features: Features) -> torch.Tensor:
    import torch

    matrix = csr_array(features)
    with warnings.catch_warnings():
        # torch calls its CSR layout a beta; PyTorch Geometric uses it all the same.
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
        return torch.sparse_csr_tensor(
            torch.tensor(matrix.indptr, dtype=torch.int64),
            torch.tensor(matrix.indices, dtype=torch.int64),
            torch.tensor(matrix.data),
            size=matrix.shape,
            check_invariants=True,
        )
