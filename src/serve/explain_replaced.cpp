// Replaced-token detection on one text, by two of the models that are served.
#include <utility>

#include "analysis/explanation.h"
#include "analysis/replaced_walk.h"
#include "analysis/same_pieces.h"
#include "serve/explain.h"
#include "serve/fields.h"
#include "serve/short_text.h"

namespace deberta::serve {
namespace {

constexpr uint64_t kFirstText = 1;  // as the program numbers texts: the same seed draws the same

}  // namespace

HttpResponse explain_replaced(const ServedModel& generator, const ServedModel& model, Body& body, size_t most_bytes) {
  const Pipeline &guesses = generator.pipeline, &judges = model.pipeline;
  check_pair(guesses.model, judges.model, judges.tokenizer);
  check_same_pieces(judges.tokenizer, model.name, guesses.tokenizer, generator.name);
  const double share = body.number(field::kShare);
  const int64_t seed = body.whole_or_default(field::kSeed);
  // Every token may be masked, and each that is has logits.
  const EncodingRules rules = short_text_rules(most_word_rows(guesses.config, most_bytes));
  const Encoding encoding = encode_short(model, body, read_text(body), rules);
  const ReplacedWalkOptions options{.share = share, .seed = static_cast<uint64_t>(seed), .number = kFirstText};
  const ReplacedWalk walk = replaced_walk(guesses.model, judges.model, judges.tokenizer, encoding, options);
  JsonObject about = walk_json(walk, judges.tokenizer, encoding);
  about.emplace_back("model", model.name);
  about.emplace_back("generator", generator.name);
  about.emplace_back("seed", seed);
  return json_response(std::move(about));
}

}  // namespace deberta::serve
