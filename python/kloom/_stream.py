# SPDX-License-Identifier: BSD-3-Clause
"""Learning by batches: partial_fit over the library's learners from streams."""
import warnings

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.validation import _check_y, check_consistent_length

from . import _frames as frames
from . import _inputs as inputs
from ._base import KernelEstimator, copies_differ
from ._load import core
from ._words import python_words

# The kernels of `kloom stream`, where the user names none.
STREAM_KERNELS = "rbf(gamma=2^-15..2^15, count=300)"
PIECE = 500   # samples between two looks at Python's signals


class StreamMixin:
    """Adds ``partial_fit``. The subclass says in ``_stream_options`` what its parameters mean for a stream."""

    _ends_by_plan = True
    _expected_failures = {
        **copies_differ("samples are drawn at random: copies are drawn in another order and give another, equally good, answer"),
        "check_sample_weights_invariance": "samples are drawn at random in an order that depends on theirs: shuffled samples "
                                           "give another, equally good, answer",
    }

    def partial_fit(self, X, y, classes=None):
        """Learn one more batch of samples, each once, in their order.

        The first batch also decides how features are standardised: give it some hundred samples. Kernels must be ``rbf``
        or ``laplacian`` families; without ``kernels`` they are 300 Gaussians, as in ``kloom stream``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or DataFrame
            The batch.
        y : array-like of shape (n_samples,)
            Classes.
        classes : array-like, default=None
            All classes that will ever come; needed in the first call only.

        Returns
        -------
        self : object
            The estimator.
        """
        self._validate_params()
        first = not hasattr(self, "_model") or not self._model.is_stream
        if hasattr(self, "_model") and first:
            warnings.warn("this estimator was fitted by fit; partial_fit cannot go on from there and begins anew", stacklevel=2)
            classes = self.classes_ if classes is None else classes
        X, y = self._read_batch(X, y, first)
        y = column_or_1d(y, warn=True)
        if first:
            self._begin(X, classes)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y holds the class {unknown.tolist()[0]!r}, which is not among the classes of the first call of "
                             f"partial_fit: {self.classes_.tolist()}")
        with python_words():
            self._learn_batch(X, [str(name) for name in y])
        self._keep_model()
        self.n_samples_seen_ = self._stream.samples
        self.n_support_vectors_ = self._stream.support_vectors
        self.prequential_score_ = self._stream.right / max(1, self._stream.samples)
        return self

    def _read_batch(self, X, y, first):
        if first:
            return inputs.read_training(self, X, y, least=1)
        if getattr(self, "_from_file", False) and frames.is_frame(X):
            table = frames.read_frame(X, [str(name) for name in X.columns])
        elif getattr(self, "_by_name", False):
            table = frames.read_new(self, X)
        else:
            return inputs.read_features(self, X, reset=False, y=y)
        y = _check_y(y, estimator=self)
        check_consistent_length(table, y)
        return table, y

    def _begin(self, X, classes):
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        self.classes_ = np.unique(column_or_1d(classes))
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two classes; classes names {len(self.classes_)} class")
        if inputs.is_precomputed(self.kernels) or inputs.functions_of(self.kernels) is not None:
            raise ValueError("partial_fit computes kernels itself: kernels must be a kernel spec of rbf and laplacian "
                             "families, an object of them, or None")
        self._kept = None
        spec = inputs.spec_of(self.kernels) or STREAM_KERNELS
        settings = self._settings()
        options = core.StreamOptions()
        options.classes = [str(name) for name in self.classes_]
        for name, value in self._stream_options().items():
            setattr(options, name, value)
        with python_words():
            recipe = inputs.fit_recipe(self, inputs.make_dataset(self, X), X, spec, settings)
            self._texts = recipe.text_names
            self._stream = core.StreamLearner(recipe, options, settings)

    def _learn_batch(self, X, labels):
        """In pieces, so that Ctrl-C is heard between them. A batch that did not come to its end was not learned."""
        stream = self._stream_learner()
        try:
            for start in range(0, len(labels), PIECE):
                rows = slice(start, start + PIECE)
                batch = X[rows].dataset(self._texts) if isinstance(X, frames.Table) else inputs.make_dataset(self, X[rows])
                stream.learn(batch, labels[rows])
            self._model = stream.model()
        except BaseException:
            self._stream = None   # the next call goes on from the model before this batch
            raise

    def _stream_learner(self):
        if getattr(self, "_stream", None) is None:   # after pickling, copying or loading
            self._stream = core.StreamLearner(self._model, self._settings())
        return self._stream

    def fit(self, X, y, sample_weight=None):
        self.__dict__.pop("_stream", None)
        return super().fit(X, y, sample_weight)

    fit.__doc__ = KernelEstimator.fit.__doc__

    def __getstate__(self):
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_stream"}

    def _keep_model(self):
        super()._keep_model()
        if self._model.is_stream and list(self._model.classes) != [str(name) for name in self.classes_]:
            raise RuntimeError("the stream's classes are not those of the estimator")
