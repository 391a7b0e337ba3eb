"""scikit-learn: vectors of texts as a transformer, and a classifier whose classes are the model's own."""

from __future__ import annotations

from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin

from deberta._errors import make_error
from deberta._inputs import list_of
from deberta._pipeline import pipeline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _texts(X: Any) -> Any:
    """A column of texts; a table, which would be read as its names, and one text are refused."""
    dimensions = getattr(X, "ndim", 1)
    if isinstance(X, str) or dimensions != 1:
        got = "one text" if isinstance(X, str) else f"{dimensions} dimensions"
        raise make_error("input", f"X: expected a column of texts, got {got}", "X")
    is_column = hasattr(X, "__arrow_c_array__") or hasattr(X, "__arrow_c_stream__")
    return X if is_column else list_of("X", X)


class _OfTexts(BaseEstimator):
    """Nothing is learned from data: fit() opens the model."""

    model: Any
    options: dict[str, Any] | None

    def fit(self, X: Any, y: Any = None) -> Any:
        self.pipeline_ = pipeline_of(self.model, self.options or {})
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "pipeline_")

    def _opened(self) -> Any:
        if not hasattr(self, "pipeline_"):
            self.fit(None)
        return self.pipeline_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.requires_fit, tags.no_validation = False, True
        return tags


class DebertaVectorizer(TransformerMixin, _OfTexts):
    """Texts to vectors [N, D]; `parameters`: those of Pipeline.embed."""

    def __init__(
        self,
        model: Any = "builtin:detect",
        options: dict[str, Any] | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        self.model, self.options, self.parameters = model, options, parameters

    def transform(self, X: Any) -> Any:
        return self._opened().embed(_texts(X), **(self.parameters or {}))


class DebertaClassifier(ClassifierMixin, _OfTexts):
    """A classifier that is trained already; `parameters`: those of Pipeline.scores. Its classes are the model's in
    the order of their names, as scikit-learn's own classifiers have them and its metrics take them to be."""

    def __init__(
        self,
        model: Any = "builtin:sentiment",
        options: dict[str, Any] | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        self.model, self.options, self.parameters = model, options, parameters

    @property
    def classes_(self) -> Any:
        import numpy

        return numpy.array(sorted(self._opened().model.labels))

    def predict_proba(self, X: Any) -> Any:
        if len(self.classes_) < 2:
            raise make_error("usage", "model: expected a model with two classes or more, got one", "model")
        scores = self._opened().scores(_texts(X), **{"function": "softmax", **(self.parameters or {})})
        labels = self._opened().model.labels
        return scores[:, sorted(range(len(labels)), key=labels.__getitem__)]

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
