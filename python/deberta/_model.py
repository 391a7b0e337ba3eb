"""The model itself: ids to hidden states, pooled rows, logits and the terms of attention."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from deberta import _deberta


class Pass:
    """What one pass computed, in packed rows: the tokens of all sequences one after the other, without padding.

    `starts` [B + 1]: where each sequence begins; `rows` [T]: with a mask, the place of each row in [B, L], else None;
    `hidden` {layer: [T, D]}; `pooled` [B, D] and `logits` [rows, C], or None; `scores`: for each layer and sequence a
    dict of c2c, c2p, p2c and softmax [H, L, L], None where the model lacks the term."""

    starts: NDArray[np.int32]
    rows: NDArray[np.int32] | None
    hidden: dict[int, NDArray[np.float32]]
    pooled: NDArray[np.float32] | None
    logits: NDArray[np.float32] | None
    scores: list[dict[str, Any]]

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.__dict__.update(arrays)

    def __repr__(self) -> str:
        shape = None if self.logits is None else self.logits.shape
        return f"Pass(sequences={len(self.starts) - 1}, hidden={sorted(self.hidden)}, logits={shape})"

    def sequence(self, b: int, layer: int) -> NDArray[np.float32]:
        """The hidden states [L, D] of a sequence: a view."""
        return self.hidden[layer][self.starts[b] : self.starts[b + 1]]


def _plain(value: Any) -> Any:
    """Arrays, and lists of arrays, as lists of integers."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


class Model:
    """The model of a pipeline. `config` is its config.json; arrays are fp32, whatever it computes in."""

    def __init__(self, core: _deberta.Model) -> None:
        self._core = core

    @property
    def info(self) -> dict[str, Any]:
        """head, labels, layers, heads, hidden_size, memory_bytes and more."""
        return self._core.info()

    @property
    def config(self) -> dict[str, Any]:
        import json

        config: dict[str, Any] = json.loads(self.info["config"])
        return config

    @property
    def labels(self) -> list[str]:
        labels: list[str] = self.info["labels"]
        return labels

    def forward(
        self,
        ids: Any,
        type_ids: Any = None,
        mask: Any = None,
        *,
        layers: Any = (),
        logits: bool = True,
        scores: bool = False,
    ) -> Pass:
        """Runs ids: one list, a list of lists of any lengths, or an array [L] or [B, L].

        mask: 0 is padding, or a token that nobody sees; `layers`: hidden states to keep, 0 (embeddings) .. N, or from
        the end; `scores`: the terms of attention of every layer, by the reference kernel: 20 H L^2 bytes for each. A
        sequence without ids, or without one that is seen, has zeros as logits; None where logits are of tokens.
        Raises InputError (token-id, input)."""
        rows = [_plain(value) for value in (ids, type_ids, mask)]
        if isinstance(rows[0], list) and rows[0] and not isinstance(rows[0][0], list):
            rows = [value if value is None else [value] for value in rows]
        return Pass(self._core.forward(rows[0], rows[1], rows[2], layers, logits, scores))
