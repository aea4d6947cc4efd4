"""Rows divided among threads: the same bits for any number of them, and nearly those of undivided rows."""

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array
from torch import Tensor

from lcgnn.compute.kernels import activation, dense, fused, objective, threads
from lcgnn.compute.kernels.adam import Adam
from lcgnn.compute.kernels.attention import Neighbourhood, attend
from lcgnn.compute.kernels.dropout import Dropout
from lcgnn.compute.kernels.dropped import dropped_dense_product, dropped_transposed_product
from lcgnn.compute.kernels.gates import gated_sum
from lcgnn.compute.kernels.hidden import hidden_layer
from lcgnn.compute.kernels.noise import noise_like
from lcgnn.compute.kernels.samples import disagreement
from lcgnn.compute.sparse import SparseMatrix, dropped_product
from lcgnn.errors import ConfigError
from lcgnn.graph import Graph, Split
from lcgnn.methods import create

NODES, FEATURES, CLASSES = 300, 12, 5
COUNTS = (1, 2, 3, 8)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few dozen rows, so that a small matrix has several."""
    monkeypatch.setattr(threads, "_ROWS", 32)
    monkeypatch.setattr(threads, "_TOGETHER", 2)


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def adjacency(seed: int = 0) -> csr_array:
    """Symmetric, with a hub, with rows without any neighbour but themselves."""
    upper = np.triu(np.random.default_rng(seed).random((NODES, NODES)) < 0.02, 1)
    upper[0, 1:200] = True
    upper[:, 250:] = False
    return csr_array((upper | upper.T | np.eye(NODES, dtype=bool)).astype(np.float32))


def sparse_features(seed: int = 0) -> csr_array:
    generator = np.random.default_rng(seed)
    return csr_array(random_array((NODES, FEATURES), density=0.3, dtype=np.float32, random_state=generator))


def gradients(function: Callable[..., Tensor], *given: Tensor) -> tuple[Tensor, ...]:
    """A function's result, and its gradients by everything that is given."""
    leaves = [tensor.clone().requires_grad_() for tensor in given]
    result = function(*leaves)
    return result.detach(), *torch.autograd.grad(result, leaves, random(*result.shape, seed=9))


CPU = torch.device("cpu")
DROPOUT, SPLIT = Dropout(0.4, 7), torch.arange(0, NODES, 7)
LABELS = torch.arange(NODES) % CLASSES


def _adam() -> tuple[Tensor, ...]:
    parameter = random(NODES * 128 + 5).requires_grad_()
    adam = Adam({"weight": parameter}, 0.1, {"weight": 0.01})
    for seed in range(3):
        parameter.grad = random(parameter.shape[0], seed=seed)
        adam.step()
    return parameter.detach(), *adam.moments().values()


def _attention(heads: int, rate: float, shifted: bool) -> tuple[Tensor, ...]:
    shifts = np.arange(NODES, dtype=np.int64) * 3 if shifted else None
    neighbourhood = Neighbourhood(adjacency(), CPU, shifts)
    given = random(NODES, heads * 4), random(heads, 4, seed=1), random(heads, 4, seed=2)
    return gradients(
        lambda projected, source, target: attend(projected, source, target, neighbourhood, Dropout(rate, 3)),
        *given,
    )


def _dropped_sparse(kept: Tensor | None) -> tuple[Tensor, ...]:
    features = SparseMatrix.of(sparse_features(), CPU)
    return gradients(lambda weight: dropped_product(features, weight, DROPOUT, kept), random(FEATURES, 6))


def _agreement() -> tuple[Tensor, ...]:
    total, carry_back = objective.class_agreement(random(NODES, CLASSES))
    return total, carry_back(random(CLASSES, CLASSES, seed=3))


def _consistency(weight: float) -> tuple[Tensor, ...]:
    logits = random(NODES, CLASSES)
    loss, gradient = objective.label_consistency_gradient(logits, LABELS, SPLIT, weight, "mean")
    scores = objective.label_consistency_scores(logits, LABELS, SPLIT)
    return torch.tensor([loss, *scores], dtype=torch.float64), gradient


def _disagreement() -> tuple[Tensor, ...]:
    loss, gradient = disagreement(random(3, NODES, CLASSES), 0.5, 0.3)
    return torch.tensor(loss, dtype=torch.float64), gradient


def _blended() -> tuple[Tensor, ...]:
    matrix = SparseMatrix.of(adjacency(), CPU, symmetric=True)
    return (matrix.blended(random(NODES, 70), 0.9, random(NODES, 70, seed=1), 0.1),)


def _dropped_dense() -> tuple[Tensor, ...]:
    features = random(NODES, FEATURES)
    transposed = dropped_transposed_product(features, DROPOUT, random(NODES, 6))
    return transposed, *gradients(
        lambda weight: dropped_dense_product(features, weight, DROPOUT), random(FEATURES, 6)
    )


def _activation() -> tuple[Tensor, ...]:
    return gradients(lambda x, bias: activation.activate(x, bias, "elu", DROPOUT), random(NODES, 6), random(6))


def _hidden() -> tuple[Tensor, ...]:
    def layer(x: Tensor, bias: Tensor, weight: Tensor) -> Tensor:
        return hidden_layer(x, bias, weight, "relu", DROPOUT)

    return gradients(layer, random(NODES, 6), random(6), random(6, 4))


def _product(columns: int) -> tuple[Tensor, ...]:
    matrix = SparseMatrix.of(adjacency(), CPU)
    return gradients(lambda x: matrix @ x, random(NODES, columns))


def _product_plus() -> tuple[Tensor, ...]:
    matrix = SparseMatrix.of(adjacency(), CPU, symmetric=True)
    return gradients(matrix.product_plus, random(NODES, 6), random(6))


def _features() -> tuple[Tensor, ...]:
    matrix = SparseMatrix.of(sparse_features(), CPU)
    return gradients(lambda weight: matrix @ weight, random(FEATURES, 6))


KERNELS: dict[str, Callable[[], tuple[Tensor, ...]]] = {
    "activation": _activation,
    "adam": _adam,
    "attention": lambda: _attention(2, 0.0, False),
    "attention, dropped out": lambda: _attention(2, 0.5, False),
    "attention of a part": lambda: _attention(1, 0.5, True),
    "bias": lambda: gradients(dense.plus_bias, random(NODES, 6), random(6)),
    "blended product": _blended,
    "class agreement": _agreement,
    "column sums": lambda: (dense.column_sums(random(NODES, 6)),),
    "dense product": lambda: gradients(dense.projected, random(NODES, 6), random(6, 4)),
    "disagreement": _disagreement,
    "dropped features": _dropped_dense,
    "dropped sparse features": lambda: _dropped_sparse(None),
    "dropped sparse features and rows": lambda: _dropped_sparse(torch.arange(NODES) % 3 > 0),
    "gates": lambda: gradients(gated_sum, random(4, NODES, CLASSES), random(CLASSES, 1), random(1)),
    "hidden layer": _hidden,
    "label consistency": lambda: _consistency(2.0),
    "label consistency without pairs": lambda: _consistency(0.0),
    "noise": lambda: (noise_like(random(NODES, 6), DROPOUT),),
    "product": lambda: _product(70),
    "product and bias": _product_plus,
    "sparse features": _features,
}


@pytest.mark.skipif(not fused(), reason="needs the compiled kernels")
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_gives_the_same_bits_on_any_number_of_threads(name, small_blocks):
    results = []
    for count in COUNTS:
        with threads.using(count):
            results.append(KERNELS[name]())
    for other in results[1:]:
        assert all(torch.equal(one, two) for one, two in zip(results[0], other, strict=True))


@pytest.mark.skipif(not fused(), reason="needs the compiled kernels")
@pytest.mark.parametrize("name", KERNELS)
def test_divided_rows_give_what_undivided_ones_give(name, monkeypatch):
    whole = KERNELS[name]()
    monkeypatch.setattr(threads, "_ROWS", 32)
    monkeypatch.setattr(threads, "_TOGETHER", 2)
    with threads.using(2):
        divided = KERNELS[name]()
    for one, two in zip(whole, divided, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-5 * max(one.abs().max().item(), 1.0))


METHODS = ("lc-gcn", "lc-gat", "lc-grand", "lc-appnp", "lc-dagnn", "lc-gcnii", "lc-sgc", "mlp")


def _fit(method: str, graph: Graph, split: Split) -> tuple[np.ndarray, ...]:
    chosen = create(method, base_epochs=3, epochs=3)
    fit = chosen.fit(graph, split, seed=1)
    return fit.label_distribution, *(value.numpy() for value in fit.tensors.values())


@pytest.mark.parametrize("sparse", [False, True], ids=["dense features", "sparse features"])
@pytest.mark.parametrize("method", METHODS)
def test_a_fit_gives_the_same_bits_on_any_number_of_threads(method, sparse, small_blocks):
    features: Any = sparse_features() if sparse else random(NODES, FEATURES).numpy()
    links = adjacency() - csr_array(np.eye(NODES, dtype=np.float32))
    links.eliminate_zeros()
    names = tuple(f"class {number}" for number in range(CLASSES))
    graph = Graph("small", csr_array(links), LABELS.numpy(), names, features)
    split = Split(SPLIT.numpy(), SPLIT.numpy() + 1, SPLIT.numpy() + 2, "public")
    results = []
    before = torch.get_num_threads()
    for count in COUNTS:
        # What torch itself may use makes no difference either.
        torch.set_num_threads(min(count, 3))
        with threads.using(count):
            results.append(_fit(method, graph, split))
        assert torch.get_num_threads() == min(count, 3)
    torch.set_num_threads(before)
    for other in results[1:]:
        assert all(np.array_equal(one, two) for one, two in zip(results[0], other, strict=True))


@given(st.integers(0, 3_000_000), st.integers(0, 2**32 - 1), st.booleans())
def test_blocks_are_the_rows_in_their_order(num_rows, seed, by_entries):
    offsets = None
    if by_entries:
        degrees = np.random.default_rng(seed).pareto(1.0, min(num_rows, 100_000)).astype(np.int32) % 1000
        num_rows, offsets = degrees.size, np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    found = threads.blocks(num_rows, offsets)
    assert [0, *(block.stop for block in found)] == [*(block.start for block in found), num_rows]
    assert len(found) <= 32
    assert (len(found) == 1) == threads.is_one_block(num_rows) == (num_rows < 2**15)


def test_blocks_have_about_as_many_entries_each():
    degrees = np.zeros(100_000, dtype=np.int32)
    degrees[:1000] = 1000
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    entries = [int(offsets[block.stop] - offsets[block.start]) for block in threads.blocks(100_000, offsets)]
    assert max(entries) < 300_000


def test_the_graphs_of_the_paper_are_one_block():
    assert len(threads.blocks(19_717)) == 1


def test_sums_are_added_in_the_order_of_the_blocks(small_blocks):
    numbers = np.random.default_rng(0).standard_normal(NODES)

    def late_at_first(rows: slice) -> float:
        time.sleep(0.01 if rows.start == 0 else 0)
        return float(numbers[rows].sum())

    expected = 0.0
    for rows in threads.blocks(NODES):
        expected += float(numbers[rows].sum())
    with threads.using(8):
        assert threads.sum_over_rows(late_at_first, NODES) == expected


def test_so_many_threads_work_as_are_asked_for(small_blocks):
    for count in (1, 3):
        seen, together = set[int](), threading.Barrier(count)

        def meet(_: slice, together=together, seen=seen, count=count) -> None:
            if threading.get_ident() not in seen and len(seen) < count:
                seen.add(threading.get_ident())
                together.wait(timeout=60)

        with threads.using(count):
            threads.for_rows(meet, NODES)
        assert len(seen) == count


def test_what_goes_wrong_on_another_thread_is_raised_here(small_blocks):
    def fail(rows: slice) -> None:
        if rows.start:
            raise ValueError("no")

    with threads.using(3), pytest.raises(ValueError, match="no"):
        threads.for_rows(fail, NODES)


def test_work_may_itself_be_divided(small_blocks):
    def inner(rows: slice) -> float:
        return threads.sum_over_rows(lambda own: float(own.stop - own.start), NODES) * (rows.stop - rows.start)

    with threads.using(8):
        assert threads.sum_over_rows(inner, NODES) == NODES**2


def test_autograd_does_not_look_on(small_blocks):
    weight = torch.ones(3, requires_grad=True)
    with threads.using(3):
        total = threads.sum_over_rows(lambda rows: weight * (rows.stop - rows.start), NODES)
    assert not total.requires_grad


def test_a_forked_process_has_threads_of_its_own(small_blocks):
    if not hasattr(os, "fork"):
        pytest.skip("nothing forks here")
    with threads.using(3):
        threads.for_rows(lambda _: None, NODES)
        child = os.fork()
        if child == 0:
            threads.for_rows(lambda _: None, NODES)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0


def test_cores_are_shared_among_processes_and_bounded_by_the_environment(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [threads.fair_share(processes) for processes in (1, 3, 8, 20)] == [8, 2, 1, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    assert [threads.fair_share(processes) for processes in (1, 3)] == [4, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert threads.fair_share() == 8
    # torchrun sets the bound to 1 by itself.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert threads.fair_share() == 4


def test_no_thread_is_not_a_number_of_threads():
    with pytest.raises(ConfigError, match="one thread is needed, not 0"), threads.using(0):
        pass
