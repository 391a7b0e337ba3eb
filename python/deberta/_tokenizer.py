"""A tokenizer by itself: texts to ids and back."""

from __future__ import annotations

import os

from deberta import _deberta
from deberta._answers import Answers, Encoding
from deberta._errors import make_error
from deberta._models import find_model

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Tokenizer:
    """The tokenizer of a model: `kind` slow, which trained the models, or fast, which transformers' pipelines use.

    Immutable; many threads may use one."""

    def __init__(self, model: str | os.PathLike[str], kind: str = "slow") -> None:
        if not isinstance(kind, str) or not kind.isascii():
            raise make_error("usage", f"kind: expected slow or fast, got {kind!r}", "kind")
        self._core = _deberta.Tokenizer(find_model(model), kind)
        self._source: tuple[str | os.PathLike[str], str] | None = (model, kind)

    @classmethod
    def _of(cls, core: _deberta.Tokenizer) -> Tokenizer:
        made = cls.__new__(cls)
        made._core, made._source = core, None
        return made

    def __reduce__(self) -> tuple[object, ...]:
        if self._source is None:
            raise TypeError("the tokenizer of a pipeline: pickle the pipeline, or open the tokenizer by its path")
        return Tokenizer, self._source

    def __call__(self, texts: Any, pairs: Any = None, **parameters: Any) -> Any:
        return self.encode(texts, pairs, **parameters)

    def encode(self, texts: Any, pairs: Any = None, **parameters: Any) -> Any:
        """A text to an Encoding, a list of texts to Answers[Encoding]. Parameters: those of the verb `tokenize`."""
        is_one = isinstance(texts, str)
        if is_one:
            texts, pairs = [texts], None if pairs is None else [pairs]
        encodings: Answers[Encoding] = Answers(Encoding(*row) for row in self._core.encode(texts, pairs, parameters))
        return encodings[0] if is_one else encodings

    def decode(self, ids: Any, skip_special_tokens: bool = True) -> str:
        """Ids back to text."""
        return self._core.decode(ids, skip_special_tokens)

    def piece(self, id: int) -> str:
        """The piece of an id, with its word-start mark."""
        return self._core.piece(id)

    def id_of(self, piece: str) -> int | None:
        """The id of a piece; None where there is none."""
        return self._core.id_of(piece)

    @property
    def special_ids(self) -> dict[str, int]:
        """pad, cls, sep, unk and mask; -1: the tokenizer has none."""
        return self._core.special_ids()

    def __len__(self) -> int:
        return len(self._core)
