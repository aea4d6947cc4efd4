"""The scikit-learn face of the package: a classifier of rows that a graph connects."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from lcgnn.datasets.arrays import class_labels, has_label
from lcgnn.datasets.encoding import Encoding
from lcgnn.datasets.frames import is_frame, table_of
from lcgnn.datasets.links import links_of
from lcgnn.datasets.scaling import Scaling, ScalingKind, checksum
from lcgnn.datasets.splits import hold_out
from lcgnn.errors import ConfigError, InputError, InputWarning
from lcgnn.graph import UNLABELLED, Features, Graph
from lcgnn.methods import Context, create, entries
from lcgnn.methods.lc import TwoPhase

_SETTINGS = ("consistency_weight", "base_epochs", "epochs", "learning_rate", "weight_decay", "hidden", "dropout")


class LCGNNClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify the nodes of a graph from a handful of labels, by a graph neural network with label consistency.

    A row of X is a node. Give -1 (or None or NaN) for the label of every row whose class is not known: those rows
    are trained on too, through the graph, and ``transduction_`` has their classes. By default every given label is
    trained on and the last epoch is kept, so that no label has to be set aside.

    Without an adjacency every row stands for itself, as in any other scikit-learn classifier. To make a graph of
    rows that are similar: ``fit(X, y, adjacency=sklearn.neighbors.kneighbors_graph(X, 10))``.

    Args:
        base: The network: "gcn", "gat", "mlp", "cheby", "monet", or one that was registered.
        label_consistency: Whether to train it on with label consistency (LC-GNN), or leave it alone.
        consistency_weight: Weight of the regularisation loss (the paper's lambda). For this and the next six, None
            takes the base's own.
        base_epochs: Epochs of the first phase, the base alone.
        epochs: Epochs of the second phase, with label consistency.
        learning_rate: Adam's learning rate.
        weight_decay: L2 penalty on all parameters.
        hidden: Width of the hidden layer.
        dropout: Dropout rate.
        settings: Any other setting of the method; ``lcgnn methods lc-gcn`` lists them.
        scaling: What is done to the numbers of X: "columns" are standardised, "rows" divided by their sum, "none",
            or "auto": rows if X counts something (mostly zeros, none negative), columns otherwise. The columns of
            a data frame are encoded each by its kind instead, as those of a table in a file.
        validation_fraction: Share of the labels that choose the epoch instead of being trained on.
        device: "cpu", "cuda", ... or "auto".
        random_state: Seed of everything random; None for another result every time.

    Attributes:
        classes_: (C,) the classes, sorted.
        transduction_: (N,) the class of every row of X: as given, or else the most probable.
        label_distributions_: (N, C) how probable each class is for every row of X.
        n_features_in_: The number of columns of X.
        feature_names_in_: Their names, if X was a data frame.
        notes_: What was made of X and the adjacency, a sentence each.
    """

    def __init__(
        self,
        base: str = "gcn",
        *,
        label_consistency: bool = True,
        consistency_weight: float | None = None,
        base_epochs: int | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        hidden: int | None = None,
        dropout: float | None = None,
        settings: Mapping[str, Any] | None = None,
        scaling: ScalingKind = "auto",
        validation_fraction: float = 0.0,
        device: str = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.base = base
        self.label_consistency = label_consistency
        self.consistency_weight = consistency_weight
        self.base_epochs = base_epochs
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.hidden = hidden
        self.dropout = dropout
        self.settings = settings
        self.scaling = scaling
        self.validation_fraction = validation_fraction
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any, adjacency: Any = None) -> LCGNNClassifier:
        """Train on the rows of X, the labels that y has, and the edges.

        Args:
            X: (N, F) numpy, scipy sparse, or a pandas or polars frame with columns of any kind.
            y: (N,) numbers or text; -1, None or NaN where there is no label. Without an adjacency, -1 and 1 alone
                are two classes, as for other classifiers.
            adjacency: The edges, without direction: an (N, N) scipy or numpy matrix of weights, (2, M) node
                numbers as PyTorch Geometric's ``edge_index``, or a NetworkX graph with the rows as nodes in order;
                None for no edges. Self-loops are left out: the networks add their own.
        """
        features, notes = self._fit_features(X)
        values = _column(self, y, features.shape[0])
        labels, self.classes_ = class_labels(values, signs_are_classes=adjacency is None)
        graph, told = self._graph(features, labels, adjacency)
        for note in told:
            warnings.warn(note, InputWarning, stacklevel=2)
        seed = _seed(self.random_state)
        split = hold_out(graph, self.validation_fraction, seed=seed)
        fit = self._method().fit(graph, split, seed, Context(self.device))
        self._tensors = fit.tensors
        self._fitted_features = None if adjacency is None else checksum(features)
        self.label_distributions_ = fit.label_distribution
        answers = np.where(labels == UNLABELLED, fit.label_distribution.argmax(axis=1), labels)
        self.transduction_ = self.classes_[answers]
        self.notes_ = (*notes, *told)
        return self

    def predict(self, X: Any, adjacency: Any = None) -> NDArray[Any]:
        """(N,) the most probable class of every row; what X and adjacency may be, `predict_proba` says."""
        most_probable = self.predict_proba(X, adjacency).argmax(axis=1)
        return np.asarray(self.classes_[most_probable])

    def predict_proba(self, X: Any, adjacency: Any = None) -> NDArray[np.float32]:
        """(N, C) how probable each class is for every row, in the order of ``classes_``.

        Args:
            X: Rows with the columns of the fitted ones: the same, some or all of them new. New rows that are
                linked to fitted ones come together with these.
            adjacency: The edges among them, in any form that `fit` takes. It may be left out if the model was
                fitted without, or if X is the X that it was fitted on.
        """
        check_is_fitted(self)
        features = self._features(X)
        if adjacency is None and self._fitted_features is not None:
            if checksum(features) == self._fitted_features:
                return self.label_distributions_
            raise InputError(
                "adjacency is missing: the model was fitted on a graph, and X has other rows. Give the edges "
                "among them; for none, adjacency=scipy.sparse.csr_array((n, n))."
            )
        graph, told = self._graph(features, np.full(features.shape[0], UNLABELLED), adjacency)
        for note in told:
            warnings.warn(note, InputWarning, stacklevel=2)
        return self._apply(graph)

    def score(self, X: Any, y: Any, sample_weight: Any = None, adjacency: Any = None) -> float:
        """The share of the rows with a label in y whose label `predict` finds."""
        predicted = self.predict(X, adjacency)
        truth = _column(self, y, predicted.size)
        labelled = has_label(truth) | np.isin(truth, self.classes_)
        weights = None if sample_weight is None else np.asarray(sample_weight)[labelled]
        return float(accuracy_score(truth[labelled], predicted[labelled], sample_weight=weights))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _method(self) -> TwoPhase:
        """The method that the parameters describe."""
        name = f"lc-{self.base}" if self.label_consistency else self.base
        if name not in {item.name for item in entries() if issubclass(item.method, TwoPhase)}:
            raise ConfigError(f"base is {self.base!r}; it can be {', '.join(base_names())}.")
        given = {name: getattr(self, name) for name in _SETTINGS if getattr(self, name) is not None}
        keeps_last = {} if self.validation_fraction else {"selection": "last"}
        method = create(name, **keeps_last, **given, **(self.settings or {}))
        assert isinstance(method, TwoPhase)
        return method

    def _fit_features(self, X: Any) -> tuple[Features, list[str]]:
        """The features of rows to train on, and what was made of their columns."""
        if is_frame(X):
            validate_data(self, X, skip_check_array=True)
            table = table_of(X, "X")
            encoding, notes = Encoding.fit(table, table.names)
            if not encoding.columns:
                raise InputError(f"X: no column can be used. {' '.join(notes)}")
            self._encoding: Encoding | Scaling = encoding
            return encoding.apply(table)[0], notes
        matrix = self._matrix(X, reset=True)
        self._encoding = scaling = Scaling.fit(matrix, self.scaling)
        return scaling.apply(matrix), []

    def _features(self, X: Any) -> Features:
        """The features of other rows, made as those that were trained on."""
        if isinstance(self._encoding, Scaling):
            return self._encoding.apply(self._matrix(X, reset=False))
        validate_data(self, X, skip_check_array=True, reset=False)
        if not is_frame(X):
            raise InputError("X: the model was fitted on a data frame. Give a frame with the same columns.")
        return self._encoding.apply(table_of(X, "X"))[0]

    def _matrix(self, X: Any, *, reset: bool) -> Features:
        matrix = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=reset)
        return csr_array(matrix) if issparse(matrix) else matrix

    def _graph(
        self, features: Features, labels: NDArray[np.int64], adjacency: Any
    ) -> tuple[Graph, tuple[str, ...]]:
        links = links_of(adjacency, labels.size)
        names = [str(name) for name in self.classes_]
        graph = Graph.from_edges(
            "graph", links.edges, labels.size, labels, names, weights=links.weights, features=features
        )
        return graph, links.notes

    def _apply(self, graph: Graph) -> NDArray[np.float32]:
        import torch

        from lcgnn.consistency import aggregate
        from lcgnn.sparse import GraphTensors

        network = self._method().network(graph.num_features, graph.num_classes, torch.Generator())
        parameters = {k: v for k, v in self._tensors.items() if k != "class_agreement"}
        with torch.no_grad():
            z = torch.softmax(torch.func.functional_call(network, parameters, (GraphTensors(graph),)), dim=1)
            if self.label_consistency:
                z = aggregate(z, self._tensors["class_agreement"])
        return z.numpy()


def base_names() -> list[str]:
    """The networks that label consistency can be put around."""
    names = [item.name for item in entries() if issubclass(item.method, TwoPhase)]
    return [name for name in names if f"lc-{name}" in names]


def _column(estimator: BaseEstimator, y: Any, num_rows: int) -> NDArray[Any]:
    """(N,) the labels as they were given."""
    if y is None:
        raise InputError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    values: NDArray[Any] = column_or_1d(y, warn=True)
    if values.size != num_rows:
        raise InputError(f"y: {values.size} labels for {num_rows} rows of X. Give -1 where there is none.")
    check_classification_targets(values[has_label(values)])
    return values


def _seed(random_state: Any) -> int:
    """The seed itself if it is one, so that other faces of the package give the same result with it."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
