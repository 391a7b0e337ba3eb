"""The list of cases: what exists under tests/golden/model and what each case shows.

A case is short, with two heads of 16. Cases that attention computes differently (ATTENTION_CASES) are repeated with
heads of 16, 24, 32 and 64, over sequences that do not fit in one tile of the kernels: NAME_k16, ...
"""

from dataclasses import dataclass, field, replace

BASE = {
    "model_type": "deberta-v2",
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "hidden_act": "gelu",
    "vocab_size": 50,
    "max_position_embeddings": 32,
    "max_relative_positions": -1,
    "position_buckets": 8,
    "pos_att_type": "p2c|c2p",
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "relative_attention": True,
    "position_biased_input": False,
    "type_vocab_size": 0,
    "layer_norm_eps": 1e-7,
}
PUBLISHED_TABLE = {"max_position_embeddings": 512, "position_buckets": 256}
TINY = {"num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
V1 = {
    "model_type": "deberta",
    "position_buckets": None,
    "norm_rel_ebd": None,
    "share_att_key": None,
    "pos_att_type": "c2p|p2c",
    "max_position_embeddings": 12,
}
BERT = {
    "relative_attention": False,
    "position_biased_input": True,
    "position_buckets": None,
    "norm_rel_ebd": None,
    "share_att_key": None,
    "type_vocab_size": 2,
}
CONVOLUTION = {"conv_kernel_size": 3, "conv_act": "gelu"}
SMALL_TABLE = {"position_buckets": 4, "max_relative_positions": 9}
ONE_LAYER = {"num_hidden_layers": 1}

# What a fixture holds besides the head's outputs: hidden states; also the probabilities of layer 1; also the scores of
# layer 1 by term; or only LAST_COLUMNS columns of the last hidden state, into each of which dense layers mix all heads.
HIDDEN, PROBABILITIES, TERMS, LAST = "hidden", "probabilities", "terms", "last"
LAST_COLUMNS = 8

UNEVEN = ("1" * 11 + "0" * 2, "1" * 6 + "0" * 7, "1" * 13)
LEFT = ("0" * 5 + "1" * 8, "0" * 2 + "1" * 11)
CAUSAL = "causal"
HOLES = ("1110111101100", "0111000111111")


@dataclass
class Case:
    name: str
    shows: str
    config: dict = field(default_factory=dict)  # on top of BASE; None removes a key
    head: str = "none"
    labels: int = 0
    lengths: tuple = (2, 13)  # sequences, positions
    mask: tuple = ()  # one string of 0 and 1 for each sequence; a rule's name for a 3-D mask
    distance: str = "original"
    scales: dict = field(default_factory=dict)  # part of a tensor's name: factor of its spread
    has_types: bool = False
    has_positions: bool = False  # position_ids given, out of order
    has_relative: bool = False  # bucket numbers given
    keeps: str = HIDDEN
    choices: int = 0
    quiet_rows: bool = False  # a third of the word rows have a tiny variance, so that eps shows


ENCODER_CASES = [
    Case("no_mask", "plain v3 layers, all tokens real; scores by term", lengths=(2, 21), keeps=TERMS),
    Case("right_padding", "three sequences of different length", mask=UNEVEN, lengths=(3, 13), keeps=PROBABILITIES),
    Case("left_padding", "padding before the tokens", mask=LEFT, keeps=PROBABILITIES),
    Case("both_paddings", "padding on both sides", mask=("0001111111100", "0000111111111"), keeps=PROBABILITIES),
    Case("holes", "masked tokens between real ones keep the distances; scores by term", mask=HOLES, keeps=TERMS),
    Case(
        "one_item_masked",
        "a sequence without any token",
        mask=("1" * 13, "0" * 13, "1" * 9 + "0" * 4),
        lengths=(3, 13),
        keeps=PROBABILITIES,
    ),
    Case("one_token", "sequences of one and two tokens", lengths=(2, 2), mask=("10", "11")),
    Case("c2p_only", "scale sqrt(2 d)", {"pos_att_type": "c2p"}, keeps=TERMS),
    Case("p2c_only", "scale sqrt(2 d), the row of i - j", {"pos_att_type": "p2c"}, keeps=TERMS),
    Case("unshared", "own position projections with biases", {"share_att_key": False}, keeps=PROBABILITIES),
    Case("unshared_c2p_only", "own key projection only", {"share_att_key": False, "pos_att_type": "c2p"}),
    Case("unshared_p2c_only", "own query projection only", {"share_att_key": False, "pos_att_type": "p2c"}),
    Case(
        "no_buckets",
        "the bucket is the distance, some beyond the table",
        {"position_buckets": -1, "max_relative_positions": 9},
        keeps=PROBABILITIES,
    ),
    Case("plain_table", "the relative table is not normalised", {"norm_rel_ebd": "none"}),
    Case("relative_none", "no relative attention, no term", {"relative_attention": False, "pos_att_type": "none"}),
    Case("bert_none", "absolute positions and types only", {**BERT, "pos_att_type": "none"}, has_types=True),
    Case(
        "bert_default",
        "pos_att_type missing: c2p is counted in the scale",
        {**BERT, "pos_att_type": None},
        keeps=PROBABILITIES,
    ),
]
VARIANT_CASES = [
    Case("conv_k3", "convolution across a hole and paddings", CONVOLUTION, mask=HOLES),
    Case("conv_k5", "convolution in groups, tanh", {"conv_kernel_size": 5, "conv_groups": 2}, mask=HOLES),
    Case("v1", "fused projections, no table norm", V1, mask=UNEVEN[:2], keeps=PROBABILITIES),
    Case("emd", "mask decoder", head="mlm", mask=HOLES),
    Case("emd_v1", "mask decoder on the v1 layout", {**V1, "max_position_embeddings": 24}, head="mlm"),
    Case("emd_conv", "mask decoder on the convolution's output", CONVOLUTION, head="mlm", mask=UNEVEN[:2]),
    Case("emd_position_ids", "mask decoder, absolute positions given", head="mlm", has_positions=True),
    Case("mask_3d", "causal mask", mask=(CAUSAL,), keeps=PROBABILITIES),
    Case("relative_given", "bucket numbers given, not antisymmetric", has_relative=True, keeps=PROBABILITIES),
]
FAR_CASES = [
    Case("len_300", "published table, logarithmic buckets", {**PUBLISHED_TABLE, **TINY}, lengths=(1, 300), keeps=LAST),
    Case("len_514", "published table, clamped distances", {**PUBLISHED_TABLE, **TINY}, lengths=(1, 514), keeps=LAST),
    Case(
        "len_514_hf",
        "published table, distances not clamped: row 0",
        {**PUBLISHED_TABLE, **TINY},
        lengths=(1, 514),
        distance="hf",
        keeps=LAST,
    ),
]
TABLE_CASES = [
    Case("small_table", "4 buckets of 9 positions", SMALL_TABLE, keeps=PROBABILITIES),
    Case(
        "small_table_hf",
        "4 buckets of 9 positions, distances not clamped",
        SMALL_TABLE,
        distance="hf",
        keeps=PROBABILITIES,
    ),
]
LARGE_CASES = [
    Case("large_gammas", "large gammas and biases", scales={"LayerNorm.weight": 6, "bias": 8}),
    Case("large_logits", "scores near +-80", scales={"query_proj.": 4.5, "key_proj.": 4.5}, keeps=PROBABILITIES),
]
NUMBER_CASES = [
    Case("eps_large", "layer_norm_eps 1e-2", {"layer_norm_eps": 1e-2, **ONE_LAYER}, quiet_rows=True),
    Case("eps_small", "layer_norm_eps 1e-7 on rows of variance near it", ONE_LAYER, quiet_rows=True),
    Case("act_relu", "hidden_act relu", {"hidden_act": "relu", **ONE_LAYER}),
    Case("act_swish", "hidden_act swish", {"hidden_act": "swish", **ONE_LAYER}),
    Case("act_tanh", "hidden_act tanh", {"hidden_act": "tanh", **ONE_LAYER}),
    Case("act_linear", "hidden_act linear", {"hidden_act": "linear", **ONE_LAYER}),
    Case("act_sigmoid", "hidden_act sigmoid", {"hidden_act": "sigmoid", **ONE_LAYER}),
]
EMBEDDING_CASES = [
    Case("type_ids", "token types", {"type_vocab_size": 3, **ONE_LAYER}, has_types=True),
    Case("position_biased", "absolute positions added", {"position_biased_input": True, **ONE_LAYER}, mask=HOLES),
    Case(
        "position_biased_left_padding",
        "absolute positions count the padding before the tokens",
        {"position_biased_input": True, **ONE_LAYER},
        mask=LEFT,
    ),
    Case(
        "position_ids",
        "absolute positions given, relative ones untouched",
        {"position_biased_input": True, **ONE_LAYER},
        has_positions=True,
    ),
    Case(
        "embedding_size",
        "narrow tables, projected before the norm",
        {"embedding_size": 8, "type_vocab_size": 2, "position_biased_input": True, **ONE_LAYER},
        has_types=True,
    ),
]
HEAD_CASES = [
    Case("sequence", "pooler and classifier", ONE_LAYER, head="sequence", labels=3, mask=UNEVEN, lengths=(3, 13)),
    Case("sequence_regression", "one output", ONE_LAYER, head="sequence", labels=1, mask=UNEVEN, lengths=(3, 13)),
    Case("sequence_tanh", "tanh pooler", {"pooler_hidden_act": "tanh", **ONE_LAYER}, head="sequence", labels=2),
    Case("token", "classifier on every token", ONE_LAYER, head="token", labels=5, mask=HOLES),
    Case(
        "token_original",
        "projection with gelu first, whatever hidden_act says",
        {"hidden_act": "relu", **ONE_LAYER},
        head="token_original",
        labels=5,
    ),
    Case("span", "start and end", ONE_LAYER, head="span", labels=2, mask=UNEVEN, lengths=(3, 13)),
    Case("mlm_plain", "no mask decoder: head on h_N", {"position_biased_input": True, **ONE_LAYER}, head="mlm"),
    Case(
        "mlm_narrow",
        "language-model head of the width of the embedding",
        {"position_biased_input": True, "embedding_size": 8, "hidden_act": "relu", **ONE_LAYER},
        head="mlm",
    ),
    Case("v1_sequence", "v1 with a head", V1, head="sequence", labels=3),
    Case("rtd", "replaced-token head", ONE_LAYER, head="rtd", mask=UNEVEN[:2]),
    Case("multiple_choice", "one score a choice", ONE_LAYER, "multiple_choice", labels=1, choices=3, lengths=(2, 9)),
    Case("record", "entities of several pieces, one without", ONE_LAYER, head="record", labels=1),
]


HEAD_SIZES = (16, 24, 32, 64)
LONG = 67  # blocks of 48 queries and keys, tiles of 64 columns, rows beyond the bucket of the farthest distance
ROOM = {"max_position_embeddings": 72}  # absolute positions for that many tokens


def stretched(mask):
    """The same pattern over LONG positions. A rule's name stays."""
    return mask if mask == CAUSAL else "".join(mask[i * len(mask) // LONG] for i in range(LONG))


def at_head_size(case, size):
    """The case over long sequences; one that keeps LAST has its own length."""
    config = {**case.config, "hidden_size": size * case.config.get("num_attention_heads", BASE["num_attention_heads"])}
    lengths = case.lengths
    if case.keeps != LAST:
        furthest = case.config.get("max_position_embeddings", BASE["max_position_embeddings"])
        config = {"max_relative_positions": furthest, **config, **ROOM}
        lengths = (min(2, case.lengths[0]), LONG)
    mask = tuple(map(stretched, case.mask[: lengths[0]]))
    return replace(case, name=f"{case.name}_k{size}", config=config, lengths=lengths, mask=mask, keeps=LAST)


ATTENTION_CASES = ENCODER_CASES + VARIANT_CASES + TABLE_CASES + LARGE_CASES
SHORT_CASES = ATTENTION_CASES + NUMBER_CASES + EMBEDDING_CASES + HEAD_CASES
CASES = SHORT_CASES + [at_head_size(case, size) for case in ATTENTION_CASES + FAR_CASES for size in HEAD_SIZES]
