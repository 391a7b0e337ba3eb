"""The enhanced mask decoder (model.md#mask-decoder): the last layer twice, absolute positions in the query state."""

from embeddings import absolute_positions, position_ids
from layer import forward_layer


def decode(config, w, inputs, encoded):
    """The two passes [B, L, D]; with position_biased_input there is no decoder: only h_N."""
    if config.position_biased_input:
        return [encoded.hidden[-1]]
    hidden = encoded.hidden[-2]
    query = absolute_positions(w, position_ids(inputs)) + hidden
    passes = []
    for _ in range(2):
        last = config.num_hidden_layers - 1
        query, _ = forward_layer(config, w, last, hidden, query, encoded.allowed_BLS, encoded.relative)
        passes.append(query)
    return passes
