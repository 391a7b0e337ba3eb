"""What counts as right for a neighbour of a published folder, and the few that differ for a reason."""

import json
import re

import numpy

from published_cases import SEQUENCE, TOKEN

TOLERANCE = 1e-5
# What items 2 and 4 of the specification refuse although transformers loads it: words of our message, why.
ALLOWED = [
    (
        r"tokenizer\.json: (normalizer|pre_tokenizer|post_processor|model): ",
        "a part of another kind than any DeBERTa tokenizer has; regular expressions are not run",
    ),
    (r"expected a token without NUL", "no published folder has a token with NUL"),
    (
        r"tokenizer\.json: added_tokens: (.* expected id \d+|id: expected 0\.\.\d+), got",
        "an added token with another id than the library gives it",
    ),
]
# (file, key, replacement as regular expressions; verdict; why): where the library's answer cannot be the reference.
EXCEPTIONS = [
    (
        r"tokenizer_config\.json",
        "model_max_length",
        r"true|false|0|1|-.*|below 64 bits",
        "refused without need",
        "no room for a text; the library then cuts nothing",
    ),
    (
        r"tokenizer_config\.json",
        "extra_special_tokens",
        "texts",
        "differs",
        "a list of tokens to transformers 5, as here; 4.57 fails on it and is asked without it",
    ),
    (
        r"tokenizer\.json",
        r".*",
        "twice.*",
        "answered where the library fails",
        "the last of two equal keys counts here; tokenizers reads none",
    ),
    (
        r"tokenizer\.json",
        r".*",
        "strange text",
        "answered where the library fails",
        "a lone surrogate is read here as in every file; tokenizers reads none",
    ),
    (
        r"added_tokens\.json",
        r"\[MASK\]",
        "true|false",
        "refused without need",
        "ids 1 and 0 in Python, which are other tokens'",
    ),
    (
        r"config\.json",
        "num_hidden_layers",
        r"-0\.0",
        "answered where the library fails",
        "a float that is whole counts as that integer, as in every key",
    ),
]
GOOD = {
    "equal": "the library's ids, logits and labels",
    "refused by both": "in one sentence",
    "weights missing": "the library draws them at random; refused here",
    "not a number": "the library answers NaN; refused here",
    "read on, unchanged": (
        "the library fails on a value that no answer depends on; the answer is that of the unchanged folder"
    ),
    "refused on purpose": "a foreign tokenizer and the like",
    "exception": "see EXCEPTIONS",
}


def close(a, b):
    a, b = numpy.asarray(a, numpy.float64), numpy.asarray(b, numpy.float64)
    return a.shape == b.shape and bool(
        (numpy.abs(a - b) <= TOLERANCE * numpy.maximum(1.0, numpy.abs(b).max(initial=0.0))).all()
    )


def names_of(label, index):
    """A label as text: a value of another type is shown as JSON or as Python writes it; a gap gets the library's
    default class name."""
    if isinstance(label, str):
        return {label}
    return {str(label), json.dumps(label)} | ({f"LABEL_{index}"} if label is None else set())


def same_classes(rows, logits, labels):
    """Ours: [(score, label)], best first. Theirs: logits by class, names of the classes."""
    for row, wanted in zip(rows, logits, strict=True):
        order = sorted(range(len(wanted)), key=lambda i: -wanted[i])
        if not close([score for score, _ in row], [wanted[i] for i in order]):
            return f"scores {[score for score, _ in row][:4]}, expected {[float(wanted[i]) for i in order][:4]}"
        clear = [
            n
            for n in range(len(order))
            if all(abs(wanted[order[n]] - wanted[order[m]]) > 1e-5 for m in (n - 1, n + 1) if 0 <= m < len(order))
        ]
        for n in clear if labels is not None else []:
            if row[n][1] not in names_of(labels[order[n]] if order[n] < len(labels) else None, order[n]):
                return f"label {row[n][1]!r}, expected {labels[order[n]]!r}"
    return ""


def same(got, wanted, head, texts, with_labels=True):
    """What differs, or nothing."""
    if got.ids is not None and wanted.ids is not None:
        for mine, right in zip(got.ids, wanted.ids, strict=True):
            if mine != right:
                first = next(
                    (i for i, (a, b) in enumerate(zip(mine[0], right[0])) if a != b), min(len(mine[0]), len(right[0]))
                )
                return (
                    f"ids {mine[0][max(0, first - 2) : first + 6]}, expected "
                    f"{right[0][max(0, first - 2) : first + 6]} at "
                    f"{first}; {len(mine[0])}, {len(right[0])} ids"
                )
    if head == SEQUENCE:
        labels = wanted.labels if with_labels else None
        return same_classes(got.rows, wanted.rows, labels) or (
            same_classes(got.scores, wanted.scores, labels) if got.scores and wanted.scores else ""
        )
    for mine, right in zip(got.rows, wanted.rows, strict=True):
        if not close(mine, right):
            return f"logits {numpy.ravel(mine)[:4]}, expected {numpy.ravel(right)[:4]}"
    if head == TOKEN and with_labels and got.labels is not None:
        for mine, right in zip(
            got.labels,
            [row for row, text in zip(wanted.rows, texts, strict=True) if isinstance(text, str)],
            strict=True,
        ):
            best = right.argmax(-1)[1:-1]
            if any(
                label not in names_of(wanted.labels[i] if i < len(wanted.labels) else None, i)
                for label, i in zip(mine, best)
            ):
                return f"tags {mine[:6]}, expected {[wanted.labels[i] for i in best[:6]]}"
    return ""


def exception_of(neighbour, verdict):
    key = ".".join(map(str, neighbour.path))
    return next(
        (
            why
            for file, path, name, of, why in EXCEPTIONS
            if of == verdict
            and re.fullmatch(file, neighbour.file)
            and re.fullmatch(path, key)
            and re.fullmatch(name, neighbour.name)
        ),
        None,
    )


def raw_verdict(case, wanted, got, before, texts):
    if got.broken:
        return "broken", got.broken
    if got.refused:
        if wanted.refused:
            return "refused by both", f"{got.refused} | {wanted.refused}"
        if wanted.invented:
            return "weights missing", f"{got.refused} | {wanted.invented[:2]}"
        if any(not numpy.isfinite(row).all() for row in wanted.rows):
            return "not a number", got.refused
        if any(re.search(words, got.refused) for words, _ in ALLOWED):
            return "refused on purpose", got.refused
        return "refused without need", got.refused
    if case.refused:
        return "loaded, not refused", ""
    if wanted.refused:
        differs = same(got, before, case.head, texts, with_labels=False)
        return (
            ("answered where the library fails", f"{differs} | {wanted.refused}")
            if differs
            else ("read on, unchanged", wanted.refused)
        )
    if wanted.invented:
        return "answered without weights", f"{wanted.invented[:3]}"
    differs = same(got, wanted, case.head, texts)
    return ("differs", differs) if differs else ("equal", "")


def verdict_of(neighbour, case, wanted, got, before, texts):
    """(verdict, detail)"""
    verdict, detail = raw_verdict(case, wanted, got, before, texts)
    why = exception_of(neighbour, verdict)
    return ("exception", f"{verdict}: {why}") if why else (verdict, detail)


def describe(counts):
    lines = [f"{sum(counts.values())} neighbours"] + [
        f"  {count:6} {verdict}{': ' + GOOD[verdict] if verdict in GOOD else '  <--'}"
        for verdict, count in counts.most_common()
    ]
    return "\n".join(lines)
