"""Components of spaCy: "deberta_ner" with a model of entities, "deberta_extract" with labels of your own.

nlp = spacy.blank("en")
nlp.add_pipe("deberta_extract", config={"model": "path/to/gliner", "labels": ["person", "city"]})"""

from __future__ import annotations

import os

from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.util import filter_spans

from deberta._pipeline import Pipeline, _reopen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

if not Span.has_extension("score"):
    Span.set_extension("score", default=0.0)


class Entities:
    """Sets doc.ents from the entities of a pipeline; each has its score in span._.score.

    With nlp.pipe(texts, n_process=N), whether processes are forked or spawned, each opens the model for itself."""

    def __init__(self, pipeline: Pipeline, task: str, parameters: dict[str, Any]) -> None:
        self._pipeline, self._task, self._parameters = pipeline, task, parameters
        self._process = os.getpid()

    def __reduce__(self) -> tuple[object, ...]:
        return Entities, (self._pipeline, self._task, self._parameters)

    def _answer(self, texts: list[str]) -> Any:
        if self._process != os.getpid():
            opening: Any = self._pipeline.__reduce__()[1]
            self._pipeline, self._process = _reopen(*opening), os.getpid()
        return getattr(self._pipeline, self._task)(texts, **self._parameters)

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc], 1))

    def pipe(self, docs: Iterable[Doc], batch_size: int = 128) -> Iterator[Doc]:
        import itertools

        stream = iter(docs)
        while group := list(itertools.islice(stream, batch_size)):
            for doc, entities in zip(group, self._answer([doc.text for doc in group])):
                spans = []
                for entity in entities:
                    span = doc.char_span(entity.start, entity.end, label=entity.label, alignment_mode="expand")
                    if span is not None:
                        span._.score = entity.score
                        spans.append(span)
                doc.ents = filter_spans(spans)
                yield doc


@Language.factory("deberta_ner", assigns=["doc.ents"], default_config={"options": {}, "parameters": {}})
def make_ner(nlp: Any, name: str, model: str, options: dict[str, Any], parameters: dict[str, Any]) -> Entities:
    return Entities(Pipeline(model, **options), "ner", parameters)


@Language.factory("deberta_extract", assigns=["doc.ents"], default_config={"options": {}, "parameters": {}})
def make_extract(
    nlp: Any, name: str, model: str, labels: list[str], options: dict[str, Any], parameters: dict[str, Any]
) -> Entities:
    return Entities(Pipeline(model, **options), "extract", {"labels": labels, **parameters})
