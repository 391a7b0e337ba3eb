"""Answers: small objects whose attributes are the keys of the program's JSON (docs/reference/output.md)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, ClassVar, TypeVar, overload

    T = TypeVar("T")

    class _Rows(Sequence[T]):
        def __init__(self, rows: Iterable[T]) -> None: ...
        def __len__(self) -> int: ...
        @overload
        def __getitem__(self, index: int) -> T: ...
        @overload
        def __getitem__(self, index: slice) -> Answers[T]: ...
        def __getitem__(self, index: Any) -> Any: ...
else:
    from _collections_abc import Sequence  # collections.abc, without what else collections loads

    class _Rows:
        """Neither a list nor, by its class, a Sequence, whose methods it has: libraries take those for rows of their
        own kind before they ask for Arrow (polars.DataFrame)."""

        __slots__ = ("_rows",)
        __hash__ = None
        __contains__, __reversed__ = Sequence.__contains__, Sequence.__reversed__
        index, count = Sequence.index, Sequence.count

        def __class_getitem__(cls, item):
            return cls

        def __init__(self, rows):
            self._rows = list(rows)

        def __len__(self):
            return len(self._rows)

        def __iter__(self):
            return iter(self._rows)

        def __getitem__(self, index):
            return type(self)(self._rows[index]) if isinstance(index, slice) else self._rows[index]

        def __eq__(self, other):
            return list(self) == list(other) if isinstance(other, (_Rows, list, tuple)) else NotImplemented

        def __repr__(self):
            return repr(self._rows)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


class Answer:
    """One answer. Scores are the doubles nearest to the digits that the program prints: as float32, its bits."""

    __slots__ = ("_fields",)
    _fields: dict[str, Any]
    _parts: ClassVar[dict[str, type[Answer]]] = {}
    # What an answer has only where there is something to say.
    cut_tokens: int
    empty: bool

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        if name in ("cut_tokens", "empty"):
            return self._fields.get(name, 0 if name == "cut_tokens" else False)
        if name.startswith("_") or name not in self._fields:
            raise AttributeError(f"{type(self).__name__} has no {name}; it has {', '.join(self._fields)}")
        part = self._parts.get(name)
        value = self._fields[name]
        return value if part is None else [part(item) for item in value]

    def to_dict(self) -> dict[str, Any]:
        """What json.loads() makes of the program's line for the same input."""
        return {key: _copy(value) for key, value in self._fields.items()}

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._fields)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and isinstance(other, Answer) and self._fields == other._fields

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._fields,)


class Answers(_Rows["T"]):
    """The answers to a list of texts, a sequence in their order; with errors="keep" an Error in the place of a bad row.

    For Arrow they are rows: pyarrow.table(answers), polars.DataFrame(answers); a bad row has `error` alone."""

    __slots__ = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        return [answer.to_dict() for answer in self]  # type: ignore[attr-defined]

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        from deberta import _deberta

        return _deberta.arrow_array(self.to_dicts())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        from deberta import _deberta

        return _deberta.arrow_stream(self.to_dicts())


class Label(Answer):
    """A label and its score."""

    label: str
    score: float


class Window(Answer):
    """A part of a long text that was read by itself: code points start to end."""

    start: int
    end: int
    labels: list[Label]
    _parts: ClassVar[dict[str, type[Answer]]] = {"labels": Label}


class Classification(Answer):
    """The best label, and `labels`: all that were asked for, best first."""

    label: str
    score: float
    labels: list[Label]
    windows: list[Window]  # with window_scores="each"
    _parts: ClassVar[dict[str, type[Answer]]] = {"labels": Label, "windows": Window}


class Entailment(Answer):
    """The likeliest relation, and the score of each under its name."""

    label: str
    entailment: float
    neutral: float
    contradiction: float
    not_entailment: float  # of a model with two classes


class ZeroShot(Answer):
    """The candidates, best first, and their scores."""

    sequence: str
    labels: list[str]
    scores: list[float]


class Entity(Answer):
    """A span of the text; `start` and `end` in the unit that was asked for."""

    entity_group: str  # of a group of pieces
    entity: str  # of a single piece: aggregation="none"
    score: float
    word: str
    start: int
    end: int
    index: int  # of a single piece

    @property
    def label(self) -> str:
        name: str = self._fields.get("entity_group") or self._fields["entity"]
        return name


class Entities(Answer):
    """The entities of a text, in its order; iterates over them."""

    entities: list[Entity]
    _parts: ClassVar[dict[str, type[Answer]]] = {"entities": Entity}

    def __iter__(self) -> Any:
        return iter(self.entities)

    def __len__(self) -> int:
        return len(self._fields["entities"])

    def __getitem__(self, index: Any) -> Any:
        return self.entities[index]


class Span(Answer):
    """Where a context answers; the empty text: it has no answer."""

    answer: str
    score: float
    start: int
    end: int


class QuestionAnswer(Span):
    """The best span; with top_k above 1 `answers` has them all."""

    answers: list[Span]
    _parts: ClassVar[dict[str, type[Answer]]] = {"answers": Span}


class Choice(Answer):
    """The choice that fits best, and the probability of each."""

    index: int
    choice: str
    scores: list[float]


class Document(Answer):
    """A document by its place in the list that was given."""

    index: int
    score: float
    text: str  # with return_text


class Ranking(Answer):
    """The documents of a query, best first."""

    query: str
    results: list[Document]
    _parts: ClassVar[dict[str, type[Answer]]] = {"results": Document}


class FilledToken(Answer):
    """A token in a mask's place, and the text that it makes."""

    token_str: str
    token: int
    piece: str
    score: float
    logit: float
    sequence: str


class Mask(Answer):
    """A mask by its token, and what fits there, likeliest first."""

    position: int
    tokens: list[FilledToken]
    _parts: ClassVar[dict[str, type[Answer]]] = {"tokens": FilledToken}


class Filling(Answer):
    """The masks of a text, in its order."""

    masks: list[Mask]
    _parts: ClassVar[dict[str, type[Answer]]] = {"masks": Mask}


class ScoredPiece(Answer):
    """A piece and the natural logarithm of its probability."""

    piece: str
    token: int
    log_probability: float
    start: int
    end: int


class TextScore(Answer):
    """How probable a masked language model finds a text."""

    perplexity: float
    word_perplexity: float
    log_probability: float
    pieces: int
    tokens: list[ScoredPiece]  # with tokens=True
    _parts: ClassVar[dict[str, type[Answer]]] = {"tokens": ScoredPiece}


class ReplacedPiece(Answer):
    """A piece and the probability that it was replaced."""

    piece: str
    token: int
    score: float
    logit: float
    replaced: bool
    start: int
    end: int


class Detection(Answer):
    """The pieces of a text."""

    tokens: list[ReplacedPiece]
    _parts: ClassVar[dict[str, type[Answer]]] = {"tokens": ReplacedPiece}


class Similarity(Answer):
    """The cosine of two vectors."""

    similarity: float


class Encoding(Answer):
    """Ids of a text or a pair, with their pieces and their places [begin, end] in their own text.

    `words`: the word of each, -1 for special tokens; `special`: 1 for tokens that the template added."""

    __slots__ = ("_more",)
    _more: dict[str, list[int]]
    ids: list[int]
    tokens: list[str]
    offsets: list[list[int]]
    type_ids: list[int]
    words: list[int]
    special: list[int]

    def __init__(self, fields: dict[str, Any], more: dict[str, list[int]] | None = None) -> None:
        super().__init__(fields)
        self._more = more or {}

    def __getattr__(self, name: str) -> Any:
        return self._more[name] if not name.startswith("_") and name in self._more else super().__getattr__(name)

    def __len__(self) -> int:
        return len(self._fields["ids"])

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._fields, self._more)
