// Options under the heading Replaced tokens: training by replaced-token detection.
#include "options/table/rows.h"

namespace deberta::option_rows {
namespace {

constexpr OptionRow kReplacedTokensRows[] = {
    OptionRow{"rtd-mode", 0, kChoice, "decoupled", "decoupled|joint", "pretrain replay",
              "decoupled: the generator steps first, then the discriminator, each with its own optimiser; joint: one "
              "optimiser on the sum of their losses"},
    OptionRow{"rtd-lambda", 0, kNumber, "10", "0..1000000", "pretrain replay",
              "weight of the discriminator's loss; 10 in the original code, 50 in its paper"},
    OptionRow{"embedding-sharing", 0, kChoice, "gdes", "gdes|es|nes", "pretrain replay",
              "the discriminator's tables of words and positions; gdes: the generator's, which it does not train, plus "
              "its own difference; es: the generator's, which both train (joint only); nes: separate tables"},
    OptionRow{"discriminator-learning-rate", 0, kNumber, "0", "0..1", "pretrain replay",
              "peak learning rate of the discriminator's optimiser; 0: that of the generator"},
    OptionRow{"generator-model", 0, kText, "", "DIR", "pretrain replay",
              "generator to begin with, in any of the forms that -m takes"},
    OptionRow{
        "generator-init", 0, kChoice, "auto", "auto|discriminator|random", "pretrain",
        "how a generator without --generator-model begins; discriminator: with the tables of the model given with -m, "
        "every second of its layers and a new head; random: all new; auto: discriminator with -m, else random"},
    OptionRow{"generator-layers", 0, kInteger, "0", "0..1000", "pretrain",
              "layers of a generator without --generator-model; 0: half of the discriminator's, but at least 2 for the "
              "mask decoder"},
    OptionRow{"generator-warmup", 0, kInteger, "0", "0..16777215", "pretrain",
              "number of first steps that train the generator alone"},
};
static_assert(are_rows(kReplacedTokensRows));

}  // namespace

std::span<const OptionRow> replaced_tokens_rows() {
  return kReplacedTokensRows;
}

}  // namespace deberta::option_rows
