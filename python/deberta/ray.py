"""Ray Data: a class for map_batches, which each actor opens once.

dataset.map_batches(
    Predictor,
    fn_constructor_kwargs={"model": "/models/sentiment", "task": "classify"},
    compute=ray.data.ActorPoolStrategy(size=4),
    num_cpus=2,
    batch_format="pyarrow",
    zero_copy_batch=True,
)"""

from __future__ import annotations

import ray

from deberta import tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import Any


class Predictor(tables.Predictor):
    """deberta.tables.Predictor with as many threads as its actor has processors (`num_cpus` of map_batches), unless
    `threads` says otherwise. The actors of a machine hold the weights once (`share_weights`)."""

    def __init__(
        self,
        model: str | os.PathLike[str],
        task: str,
        columns: str | Iterable[str] | None = None,
        parameters: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        if "threads" not in options:
            options["threads"] = max(1, int(ray.get_runtime_context().get_assigned_resources().get("CPU", 1)))
        options.setdefault("share_weights", True)
        super().__init__(model, task, columns, parameters, **options)
