// The walk of replaced-token detection: the model is the discriminator, another one the generator.
#include <utility>

#include "analysis/replaced_figure.h"
#include "analysis/replaced_walk.h"
#include "analysis/same_pieces.h"
#include "cli/figure_maker.h"
#include "program/builtin_model.h"
#include "program/model_options.h"
#include "rows/row_input.h"

namespace deberta::cli {

FigureMaker open_walk(const AnalyzeVerb& options) {
  const auto discriminator = open_shared(options);
  std::string name = options.figures.generator_model.value;
  if (name.empty()) name = program::builtin_model_of(options.verb, "generator");
  const auto generator = open_named(options, name);
  check_same_pieces(discriminator->tokenizer, options.model.name, generator->tokenizer, name);
  check_pair(generator->model, discriminator->model, discriminator->tokenizer);
  const EncodingRules rules = program::encoding_rules(options.encoding);
  const auto make = [discriminator, generator, rules, share = options.figures.mlm_probability.value,
                     seed = options.figures.seed.value](const Row& row) {
    const Encoding encoding = encode_shown(discriminator->tokenizer, row, rules);
    ReplacedWalk walk = replaced_walk(generator->model, discriminator->model, discriminator->tokenizer, encoding,
                                      {share, seed, row.number});
    return MadeFigure{walk_figure(std::move(walk), discriminator->tokenizer), encoding.size(), encoding.cut_tokens};
  };
  return {make, row_encoder(discriminator->tokenizer, {rules}), discriminator};
}

}  // namespace deberta::cli
