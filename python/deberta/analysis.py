"""A look inside: the terms of attention of a text, layer by layer, as arrays."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from deberta._pipeline import Pipeline


class LayerTerms:
    """One layer, or one pass of the mask decoder: arrays [H, L, L], row of the query, column of the key, scaled. A term
    that the model lacks is None. c2c + c2p + p2c = sum, added in this order; softmax: the weights of the values."""

    layer: int
    c2c: NDArray[np.float32]
    c2p: NDArray[np.float32] | None
    p2c: NDArray[np.float32] | None
    sum: NDArray[np.float32]
    softmax: NDArray[np.float32]

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.__dict__.update(arrays)

    def __repr__(self) -> str:
        return f"LayerTerms(layer={self.layer}, shape={self.c2c.shape})"


class Terms:
    """The tokens of a text, and the terms of each layer."""

    def __init__(self, pieces: list[str], layers: list[LayerTerms]) -> None:
        self.pieces, self.layers = pieces, layers

    def __repr__(self) -> str:
        return f"Terms(pieces={self.pieces!r}, layers={self.layers!r})"


def _terms(pipeline: Pipeline, text: str, pair: str | None, layers: Sequence[int], of_decoder: bool) -> Terms:
    pairs = None if pair is None else [pair]
    pieces, shown = pipeline._core.attention_terms([text], pairs, layers, of_decoder)
    return Terms(pieces, [LayerTerms(arrays) for arrays in shown])


def attention_terms(pipeline: Pipeline, text: str, pair: str | None = None, layers: Sequence[int] = ()) -> Terms:
    """The terms of layers by their numbers, 1 .. N, ascending; none: all. Takes 20 H L^2 bytes for each.

    Raises InputError for a layer that the model does not have."""
    return _terms(pipeline, text, pair, layers, False)


def decoder_terms(pipeline: Pipeline, text: str, pair: str | None = None) -> Terms:
    """The same of each pass of the mask decoder. Raises InputError (task) for a model without one."""
    return _terms(pipeline, text, pair, (), True)
