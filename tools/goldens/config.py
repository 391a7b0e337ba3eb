"""The configuration: the keys of model.md#configuration that change inference, defaults filled in."""

from dataclasses import dataclass


@dataclass
class Config:
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    hidden_act: str
    layer_norm_eps: float
    vocab_size: int
    max_position_embeddings: int
    type_vocab_size: int
    embedding_size: int
    position_biased_input: bool
    relative_attention: bool
    max_relative_positions: int  # after defaulting
    position_buckets: int
    pos_att_type: tuple  # of "c2p", "p2c"
    share_att_key: bool
    norm_rel_ebd: bool
    conv_kernel_size: int
    conv_groups: int
    conv_act: str
    pooler_act: str
    is_v1: bool

    @property
    def head_size(self):
        return self.hidden_size // self.num_attention_heads

    @property
    def span(self):
        return self.position_buckets if self.position_buckets > 0 else self.max_relative_positions

    @property
    def attention_terms(self):
        """Derived from pos_att_type even when relative_attention is false."""
        return 1 + len(self.pos_att_type)


def parse_config(document, is_v1=False):
    """From config.json of the original or of HF. `is_v1`: fused weights although the file has no model_type."""
    get = document.get
    hidden = get("hidden_size", 768)
    positions = get("max_position_embeddings", 512)
    furthest = get("max_relative_positions", -1)
    terms = get("pos_att_type", "c2p")  # the original's default; HF's is none, so write the key
    terms = terms.split("|") if isinstance(terms, str) else terms
    return Config(
        hidden_size=hidden,
        num_hidden_layers=get("num_hidden_layers", 12),
        num_attention_heads=get("num_attention_heads", 12),
        intermediate_size=get("intermediate_size", 3072),
        hidden_act=get("hidden_act", "gelu"),
        layer_norm_eps=get("layer_norm_eps", 1e-7),
        vocab_size=document["vocab_size"],
        max_position_embeddings=positions,
        type_vocab_size=get("type_vocab_size", 0),
        embedding_size=get("embedding_size", hidden),
        position_biased_input=get("position_biased_input", True),
        relative_attention=get("relative_attention", False),
        max_relative_positions=positions if furthest < 1 else furthest,
        position_buckets=get("position_buckets", -1),
        pos_att_type=tuple(term for term in ("c2p", "p2c") if term in terms),
        share_att_key=get("share_att_key", False),
        norm_rel_ebd="layer_norm" in get("norm_rel_ebd", "none"),
        conv_kernel_size=get("conv_kernel_size", 0),
        conv_groups=get("conv_groups", 1),
        conv_act=get("conv_act", "tanh"),
        pooler_act=pooler_activation(document),
        is_v1=is_v1 or get("model_type") == "deberta",
    )


def pooler_activation(document):
    """HF: pooler_hidden_act, else gelu. Original: the pooling block, else hidden_act."""
    if "model_type" in document:
        return document.get("pooler_hidden_act", "gelu")
    pooling = document.get("pooling", {"hidden_act": document.get("hidden_act", "gelu")})
    return pooling.get("hidden_act", "gelu")
