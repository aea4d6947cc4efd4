"""The scikit-learn face of the package: a classifier of rows that a graph connects."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from lcgnn.assessment.calibration import at_temperature
from lcgnn.assessment.evaluation import class_counts
from lcgnn.csr import checked_sparse
from lcgnn.errors import InputError, InputWarning, OutputError
from lcgnn.estimator.bases import candidates, choice_told, method_of
from lcgnn.estimator.storage import Fitted, load_fitted, save_fitted
from lcgnn.features.encoding import Encoding
from lcgnn.features.scaling import Scaling, ScalingKind, checksum
from lcgnn.graph import UNLABELLED, Features, Graph, Split
from lcgnn.methods import Context, Method
from lcgnn.methods.lc import TwoPhase
from lcgnn.networks.module import ModuleFactory
from lcgnn.runs.choice.candidates import AUTO, BUDGET, seconds_of
from lcgnn.runs.choice.contest import contest_in_memory
from lcgnn.runs.choice.verdict import Choice
from lcgnn.runs.model import TrainedModel
from lcgnn.sources.frames import is_frame, row_names, table_of
from lcgnn.sources.in_memory import all_labels, class_labels, graph_of, has_label, odd_names
from lcgnn.sources.links import links_of
from lcgnn.sources.splits import with_validation

_SETTINGS = ("consistency_weight", "base_epochs", "epochs", "learning_rate", "weight_decay", "hidden", "dropout")


class LCGNNClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Classify the nodes of a graph from a handful of labels, by a graph neural network with label consistency.

    A row of X is a node. Give -1 (or None or NaN) for the label of every row whose class is not known: those rows
    are trained on too, through the graph, and ``transduction_`` has their classes. By default every given label is
    trained on and the last epoch is kept, so that no label has to be set aside.

    Without an adjacency every row stands for itself, as in any other scikit-learn classifier. To make a graph of
    rows that are similar: ``fit(X, y, adjacency=sklearn.neighbors.kneighbors_graph(X, 10))``.

    Args:
        base: The network: "gcn", "appnp", "grand", "gat", "mlp", ..., or one that was registered; or "auto", which
            tries several kinds of methods on labels that are held out in turn, and takes one; or a function
            of the number of features and of classes that makes a torch module, such as one of PyTorch Geometric's
            (see ``lcgnn.methods.module_method``); or a method with a network, whose settings hold where no others
            are given here.
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
        scaling: What is done to the numbers of X: "columns" are standardised, "rows" divided by their sum, "norm"
            divides them by their Euclidean norm, "none", or "auto": rows of length 2 if X counts something (mostly
            zeros), otherwise columns, made smaller where they are many. The columns of a data frame are encoded
            each by its kind instead, as those of a table in a file.
        validation_fraction: Share of the labels that choose the epoch instead of being trained on.
        estimate: Whether to estimate from the given labels how many predictions are right (``expected_``), and to
            calibrate the probabilities by that; a number says in how many parts the labels are divided, True takes
            what makes sense, mostly ten. A further model is trained for each, so that fit takes so many times
            longer. With the base "auto" that is done anyway.
        budget: How long "auto" may try: seconds, or a text such as "2m". Where it is short, what is tried depends
            on how fast the machine is, whatever the seed; a long one gives the same result every time.
        device: "cpu", "cuda", ... or "auto".
        random_state: Seed of everything random; None for another result every time.

    Attributes:
        classes_: (C,) the classes, sorted.
        transduction_: (N,) the class of every row of X: as given, or else the most probable.
        label_distributions_: (N, C) how probable each class is for every row of X.
        n_features_in_: The number of columns of X.
        feature_names_in_: Their names, if X was a data frame.
        expected_: How far to trust the predictions, an ``Assessment``; None where that was not estimated.
        temperature_: Probabilities are taken to the power of one by it; 1 where they are not calibrated.
        notes_: What was made of X and the adjacency, and what to expect, a sentence each.
    """

    def __init__(
        self,
        base: str | ModuleFactory | TwoPhase = "gcn",
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
        estimate: bool | int = False,
        budget: str | float = BUDGET,
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
        self.estimate = estimate
        self.budget = budget
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any, adjacency: Any = None) -> LCGNNClassifier:
        """Train on the rows of X, the labels that y has, and the edges.

        Args:
            X: (N, F) numpy, scipy sparse, or a pandas or polars frame with columns of any kind.
            y: (N,) numbers or text; -1, None or NaN where there is no label. Without an adjacency, -1 and 1 alone
                are two classes, as for other classifiers.
            adjacency: The edges, without direction: an (N, N) scipy or numpy matrix of weights, (2, M) node
                numbers as PyTorch Geometric's ``edge_index``, or a NetworkX graph whose nodes are the rows by
                the names in the index of a pandas frame, or by number; None for no edges. Self-loops are left out:
                the networks add their own.
        """
        features, encoding, notes = self._fit_features(X)
        values = _column(self, y, features.shape[0])
        labels, classes = class_labels(values, signs_are_classes=adjacency is None)
        check_classification_targets(classes[labels[labels != UNLABELLED]])
        graph, told = _graph(features, adjacency, labels, classes, row_names(X))
        seed = _seed(self.random_state)
        methods = self._methods(graph)
        split = all_labels(graph)
        if self.validation_fraction:
            split = with_validation(graph, split, self.validation_fraction, seed)
        choice = self._choice(methods, graph, split, seed)
        name, method = next(iter(methods.items())) if choice is None else (choice.name, choice.method)
        expected = None if choice is None else choice.assessment
        temperature = 1.0 if expected is None else expected.calibration.temperature
        fit = method.fit(graph, split, seed, Context(self.device))
        counts = class_counts(fit.label_distribution, graph, split.train)
        fitted = Fitted(
            model=TrainedModel.of(name, method, graph, fit, temperature=temperature),
            encoding=encoding,
            classes=classes,
            label_distributions=at_temperature(fit.label_distribution, temperature),
            answers=np.where(labels == UNLABELLED, fit.label_distribution.argmax(axis=1), labels),
            rows=None if adjacency is None else checksum(features),
            edges=None if adjacency is None else checksum(graph.adjacency),
            notes=(
                *notes,
                *(f"y: {odd}" for odd in odd_names(classes)),
                *told,
                *choice_told(choice, name, len(methods)),
                *(stage.note for stage in fit.stages if stage.note),
                *(() if expected is None else expected.sentences(counts)),
            ),
            expected=expected,
            num_columns=self.n_features_in_,
            column_names=tuple(self.feature_names_in_) if hasattr(self, "feature_names_in_") else None,
        )
        return self._become(fitted)

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
        fitted = self._fitted
        if adjacency is None and fitted.rows is not None:
            if checksum(features) == fitted.rows:
                return fitted.label_distributions.copy()
            fitted.model.check_inductive()
            raise InputError(
                "adjacency is missing: the model was fitted on a graph, and X has other rows. Give the edges "
                "among them; for none, adjacency=scipy.sparse.csr_array((n, n))."
            )
        unknown = np.full(features.shape[0], UNLABELLED)
        graph, _ = _graph(features, adjacency, unknown, fitted.classes, row_names(X))
        same = checksum(features) == fitted.rows and fitted.edges in (None, checksum(graph.adjacency))
        if same and not fitted.model.method.inductive:
            return fitted.label_distributions.copy()
        return fitted.model.label_distribution(graph, self.device)

    def score(self, X: Any, y: Any, sample_weight: Any = None, adjacency: Any = None) -> float:
        """The share of the rows with a label in y whose label `predict` finds."""
        predicted = self.predict(X, adjacency)
        truth = _column(self, y, predicted.size)
        known = set(self.classes_.tolist())
        labelled = has_label(truth) | np.array([value in known for value in truth.tolist()], dtype=bool)
        if not labelled.any():
            raise InputError("y: no row has a label to compare with. Give the true labels of some rows.")
        weights = None if sample_weight is None else np.asarray(sample_weight)[labelled]
        return float(np.average(truth[labelled] == predicted[labelled], weights=weights))

    def save(self, path: str | Path) -> None:
        """Write the fitted classifier to a file, as safetensors with a description in JSON, without pickle."""
        check_is_fitted(self)
        if not isinstance(self.base, str):
            raise OutputError(
                f"{path}: a file names its base, and this base is a {type(self.base).__name__}. Register it "
                "(lcgnn.methods.register_module) and fit again with base='its name'."
            )
        save_fitted(Path(path), self._fitted, {**self.get_params(deep=False), "random_state": None})

    @classmethod
    def load(cls, path: str | Path) -> LCGNNClassifier:
        """The classifier that `save` wrote; OutputError names a file that was cut or altered, or is another."""
        fitted, parameters = load_fitted(Path(path))
        try:
            return cls(**parameters)._become(fitted)
        except TypeError as error:
            raise OutputError(f"{path} is of another version of lcgnn ({error}). Fit it again.") from error

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _become(self, fitted: Fitted) -> LCGNNClassifier:
        """Show what was fitted under the names that scikit-learn has for it."""
        self._fitted = fitted
        self.classes_ = fitted.classes
        self.label_distributions_ = fitted.label_distributions
        self.transduction_ = fitted.classes[fitted.answers]
        self.expected_ = fitted.expected
        self.temperature_ = fitted.model.temperature
        self.notes_ = fitted.notes
        self.n_features_in_ = fitted.num_columns
        if fitted.column_names is not None:
            self.feature_names_in_ = np.array(fitted.column_names, dtype=object)
        return self

    def _choice(self, methods: Mapping[str, Method], graph: Graph, split: Split, seed: int) -> Choice | None:
        """Which method to take and how far to trust it, if there are several or that is to be estimated."""
        if not self.estimate and len(methods) == 1:
            return None
        asked = None if self.estimate is True or not self.estimate else int(self.estimate)
        budget = seconds_of(self.budget)
        found = contest_in_memory(methods, graph, split, seed, asked=asked, budget=budget, device=self.device)
        if found is None and self.estimate:
            raise InputError("y: no class has two labels, so none can be held out. Fit with estimate=False.")
        return found

    def _methods(self, graph: Graph) -> dict[str, Method]:
        """The methods that the parameters describe, by name, the favoured one first."""
        if self.base == AUTO:
            return candidates(self._settings(), graph, label_consistency=self.label_consistency)
        return dict([self._method()])

    def _method(self) -> tuple[str, Method]:
        """The method of a single base, and its name."""
        return method_of(self.base, self._settings(), label_consistency=self.label_consistency)

    def _settings(self) -> dict[str, Any]:
        """Those that were given."""
        given = {name: getattr(self, name) for name in _SETTINGS if getattr(self, name) is not None}
        keeps_last = {} if self.validation_fraction else {"selection": "last"}
        return {**keeps_last, **given, **(self.settings or {})}

    def _fit_features(self, X: Any) -> tuple[Features, Encoding | Scaling, list[str]]:
        """The features of rows to train on, how they were made, and what there is to say of the columns."""
        if not is_frame(X):
            matrix = self._matrix(X, reset=True)
            scaling = Scaling.fit(matrix, self.scaling)
            return scaling.apply(matrix), scaling, []
        table = table_of(X, "X")
        validate_data(self, X, skip_check_array=True)
        encoding, notes = Encoding.fit(table, table.names)
        if not encoding.columns:
            raise InputError(f"X: no column can be used. {' '.join(notes)}")
        return encoding.apply(table)[0], encoding, notes

    def _features(self, X: Any) -> Features:
        """The features of other rows, made as those that were trained on."""
        encoding = self._fitted.encoding
        if isinstance(encoding, Scaling):
            return encoding.apply(self._matrix(X, reset=False))
        validate_data(self, X, skip_check_array=True, reset=False)
        if not is_frame(X):
            raise InputError("X: the model was fitted on a data frame. Give a frame with the same columns.")
        features, notes = encoding.apply(table_of(X, "X"))
        _warn(notes)
        return features

    def _matrix(self, X: Any, *, reset: bool) -> Features:
        if issparse(X):
            checked_sparse(X, "X")
        matrix = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=reset)
        return csr_array(matrix) if issparse(matrix) else matrix


def _graph(
    features: Features, adjacency: Any, labels: NDArray[np.int64], classes: NDArray[Any], rows: list[Any] | None
) -> tuple[Graph, tuple[str, ...]]:
    """The graph of these rows; what could not be taken as it stands is warned of, and returned."""
    links = links_of(adjacency, labels.size, rows)
    _warn(links.notes)
    names = [str(name) for name in classes]
    return graph_of("graph", links, labels, names, features), links.notes


def _warn(notes: Iterable[str]) -> None:
    for note in notes:
        warnings.warn(note, InputWarning, stacklevel=4)


def _column(estimator: BaseEstimator, y: Any, num_rows: int) -> NDArray[Any]:
    """(N,) the labels as they were given."""
    if y is None:
        raise InputError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    values: NDArray[Any] = column_or_1d(y, warn=True)
    if values.size != num_rows:
        raise InputError(f"y: {values.size} labels for {num_rows} rows of X. Give -1 where there is none.")
    return values


def _seed(random_state: Any) -> int:
    """The seed itself if it is one, so that other faces of the package give the same result with it."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
