// The table of forms: each row is a name and the overrides of pretrain that produce it.
#include "train/ablation/forms.h"

#include <algorithm>
#include <array>

namespace deberta::train {
namespace {

constexpr std::array kForms = {
    Form{"full", "", "", "as the plan's own options have it", ""},
    Form{"-EMD", "", R"({"decoder-passes": 0})",
         "words are predicted from the last layer, without absolute positions anywhere", ""},
    Form{"-C2P", "pos_att_type=p2c", "", "no content-to-position term", ""},
    Form{"-P2C", "pos_att_type=c2p", "", "no position-to-content term", ""},
    Form{"-EMD-C2P", "pos_att_type=p2c", R"({"decoder-passes": 0})", "neither the decoder nor content-to-position", ""},
    Form{"-EMD-P2C", "pos_att_type=c2p", R"({"decoder-passes": 0})", "neither the decoder nor position-to-content", ""},
    Form{"BERT", "relative_attention=false,position_biased_input=true", R"({"max-gram": 1})",
         "absolute positions at the input, single pieces masked; no next-sentence prediction", ""},
    Form{"RoBERTa-ReImp", "relative_attention=false,position_biased_input=true", "",
         "absolute positions at the input, otherwise the recipe of the plan", ""},
    Form{"Shaw", "pos_att_type=c2p,position_buckets=-1,max_relative_positions=16", R"({"decoder-passes": 0})",
         "content-to-position over distances clipped at 16, by the keys' projection; none at the values", ""},
    Form{
        "Transformer-XL",
        "pos_att_type=c2p,share_att_key=false,norm_rel_ebd=none,position_buckets=-1,fixed_relative_table=true",
        R"({"decoder-passes": 0})",
        "content-to-position over sinusoids of the distance, with a projection of its own; the biases u and v are one, "
        "and no states recur",
        ""},
    Form{"ALBERT", "share_layers=true", "", "all layers are one; the table of words keeps its width", ""},
    Form{"P2P", "pos_att_type=c2p|p2c|p2p", "", "a position-to-position term as well", ""},
    Form{"sqrt(d)", "scale_by_terms=false", "", "scores are divided by sqrt(d), whatever the terms", ""},
    Form{"pre-LN", "norm_first=true", "", "norms before attention and feed-forward, and one after the last layer", ""},
    Form{"convolution", "conv_kernel_size=3,conv_act=gelu", "",
         "a convolution of three embeddings beside the first layer (version 2, xlarge)", ""},
    Form{"convolution at the input", "conv_kernel_size=3,conv_act=gelu,conv_at_input=true", "",
         "a convolution of three embeddings, column by column, before the first layer", ""},
    Form{"feed-forward dropout", "feed_forward_dropout=0.1", "",
         "dropout behind the activation of the feed-forward layers too", ""},
    Form{"positions at the input", "position_biased_input=true", "",
         "absolute positions are added to the embeddings, and no mask decoder has them", ""},
    Form{"own decoder layers", "own_decoder_layers=true", "",
         "each pass of the mask decoder has a layer of its own, after all layers of the encoder", ""},
    Form{"NES", "", R"({"objective": "rtd", "embedding-sharing": "nes"})",
         "replaced tokens, two tables of embeddings that share nothing", ""},
    Form{"ES", "", R"({"objective": "rtd", "embedding-sharing": "es", "rtd-mode": "joint"})",
         "replaced tokens, one table of embeddings that both losses move", ""},
    Form{"GDES", "", R"({"objective": "rtd", "embedding-sharing": "gdes"})",
         "replaced tokens, gradient-disentangled sharing", ""},
    Form{"ELECTRA", "relative_attention=false,position_biased_input=true",
         R"({"objective": "rtd", "embedding-sharing": "es", "rtd-mode": "joint"})",
         "replaced tokens and shared embeddings over absolute positions", ""},
    Form{"XLNet", "", "", "",
         "permutation language modelling needs two streams of attention, which this trainer does not have; the form "
         "Transformer-XL has the same distances"},
    Form{"segment recurrence", "", "", "",
         "this trainer does not keep states from segment to segment; the form Transformer-XL has the same distances"},
};

}  // namespace

std::span<const Form> all_forms() {
  return kForms;
}

const Form* find_form(std::string_view name) {
  const auto match = std::find_if(kForms.begin(), kForms.end(), [&](const Form& form) { return form.name == name; });
  return match == kForms.end() ? nullptr : &*match;
}

}  // namespace deberta::train
