"""Rows of the relative table (model.md#relative-positions, model.md#far-distances).

L queries  S keys  R rows = 2 * span  D hidden
"""

import math

import numpy as np

from arithmetic import layer_norm


def bucket(r, buckets, furthest, distance="original"):
    """The bucket of the distance r = i - j. `distance`: "original" clamps r first, "hf" does not."""
    if buckets <= 0:
        return r
    if distance == "original":
        r = max(-(furthest - 1), min(furthest - 1, r))
    mid = buckets // 2
    if abs(r) <= mid:
        return r
    beyond = math.ceil(math.log(abs(r) / mid) / math.log((furthest - 1) / mid) * (mid - 1)) + mid
    return beyond if r > 0 else -beyond


def clamp_row(bucket_number, span):
    return np.clip(bucket_number + span, 0, 2 * span - 1)


def rows_of_table(config, queries, keys, distance="original"):
    """[L, S]: the row of each pair. Queries and keys both count from 0."""
    distances = range(1 - keys, queries)
    buckets = [bucket(r, config.position_buckets, config.max_relative_positions, distance) for r in distances]
    rows_LS = np.array(buckets)[np.arange(queries)[:, None] - np.arange(keys) + keys - 1]
    return clamp_row(rows_LS, config.span)


def relative_table(config, w):
    """P' [R, D], or None without relative attention."""
    if not config.relative_attention:
        return None
    table_RD = w["encoder.rel_embeddings.weight"]
    if config.norm_rel_ebd:
        gamma, beta = w["encoder.LayerNorm.weight"], w["encoder.LayerNorm.bias"]
        table_RD = layer_norm(table_RD, gamma, beta, config.layer_norm_eps)
    return table_RD
