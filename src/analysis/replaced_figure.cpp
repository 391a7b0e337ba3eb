// Tokens with what both models make of them, as lines, objects, arrays and bars.
// L tokens
#include "analysis/replaced_figure.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "analysis/token_labels.h"

namespace deberta {
namespace {

struct Walk {
  ReplacedWalk walk;
  std::vector<std::string> pieces, drawn;  // of every token
};

std::vector<FigureLine> lines_of(const Walk& data) {
  std::vector<FigureLine> lines;
  for (size_t token = 0; token < data.pieces.size(); ++token) {
    const ReplacedStep& step = data.walk.steps[token];
    const auto if_masked = [&](FigureValue value) { return step.is_masked ? std::move(value) : FigureValue(); };
    lines.push_back({static_cast<int64_t>(token), data.pieces[token], int64_t{step.is_masked},
                     if_masked(data.drawn[token]), if_masked(step.drawn_probability), int64_t{step.is_replaced},
                     step.replaced_probability, if_masked(step.generator_loss), step.discriminator_loss});
  }
  return lines;
}

JsonObject step_json(const Walk& data, size_t token) {
  const ReplacedStep& step = data.walk.steps[token];
  JsonObject object{{"token", data.pieces[token]}, {"masked", step.is_masked}};
  if (step.is_masked) {
    object.emplace_back("drawn", data.drawn[token]);
    object.emplace_back("drawn_probability", step.drawn_probability);
    object.emplace_back("generator_loss", step.generator_loss);
  }
  object.emplace_back("label", int64_t{step.is_replaced});
  object.emplace_back("replaced", step.replaced_probability);
  object.emplace_back("discriminator_loss", step.discriminator_loss);
  return object;
}

// The mean of a loss, and the number of tokens that it is of.
JsonObject signal_json(double loss, size_t tokens) {
  return {{"loss", loss}, {"tokens", uint64_t{tokens}}};
}

JsonObject object_of(const Walk& data) {
  JsonArray tokens;
  for (size_t token = 0; token < data.pieces.size(); ++token) tokens.emplace_back(step_json(data, token));
  return {{"tokens", std::move(tokens)},
          {"generator", signal_json(data.walk.generator_loss, data.walk.masked)},
          {"discriminator", signal_json(data.walk.discriminator_loss, data.pieces.size())}};
}

std::vector<FigureArray> arrays_of(const Walk& data) {
  const Shape shape{static_cast<int64_t>(data.pieces.size())};
  std::vector<FigureArray> arrays;
  const auto add = [&](const char* name, const auto& value_of) {
    FigureArray& array = arrays.emplace_back(FigureArray{.name = name, .shape = shape});
    for (const ReplacedStep& step : data.walk.steps) array.values.push_back(static_cast<float>(value_of(step)));
  };
  add("token", [](const ReplacedStep& step) { return step.token; });
  add("masked", [](const ReplacedStep& step) { return step.is_masked; });
  add("drawn", [](const ReplacedStep& step) { return step.drawn; });
  add("drawn_probability", [](const ReplacedStep& step) { return step.drawn_probability; });
  add("label", [](const ReplacedStep& step) { return step.is_replaced; });
  add("replaced", [](const ReplacedStep& step) { return step.replaced_probability; });
  add("generator_loss", [](const ReplacedStep& step) { return step.generator_loss; });
  add("discriminator_loss", [](const ReplacedStep& step) { return step.discriminator_loss; });
  return arrays;
}

std::vector<std::string> bar_labels(const Walk& data) {
  std::vector<std::string> labels = labels_of(data.pieces);
  const std::vector<std::string> drawn = labels_of(data.drawn);
  for (size_t token = 0; token < labels.size(); ++token) {
    if (data.walk.steps[token].is_masked) labels[token] += fmt::format(" [MASK] {}", drawn[token]);
  }
  return labels;
}

chart::Picture picture_of(const Walk& data) {
  const std::vector<std::string> labels = bar_labels(data);
  chart::BarChart judged{.title = "what the discriminator says of each token",
                         .labels = labels,
                         .series = {{.name = "P(replaced)", .values = {}}, {.name = "label", .values = {}}}};
  chart::BarChart losses{
      .title = fmt::format("losses: {} of {} tokens teach the generator, all of them the "
                           "discriminator",
                           data.walk.masked, labels.size()),
      .x_title = "nats",
      .labels = labels,
      .series = {{.name = fmt::format("generator, mean {:.3g}", data.walk.generator_loss), .values = {}},
                 {.name = fmt::format("discriminator, mean {:.3g}", data.walk.discriminator_loss), .values = {}}}};
  for (const ReplacedStep& step : data.walk.steps) {
    judged.series[0].values.push_back(step.replaced_probability);
    judged.series[1].values.push_back(step.is_replaced);
    losses.series[0].values.push_back(step.is_masked ? step.generator_loss : chart::kMissing);
    losses.series[1].values.push_back(step.discriminator_loss);
  }
  chart::Picture picture = chart::arranged({chart::draw(judged), chart::draw(losses)}, 2);
  picture.title = "a text through generator and discriminator";
  return picture;
}

}  // namespace

FigureColumns walk_columns() {
  return {"position",          "token", "masked", "drawn", "drawn_probability", "label", "replaced", "generator_loss",
          "discriminator_loss"};
}

Figure walk_figure(ReplacedWalk walk, const Tokenizer& tokenizer) {
  Walk data{std::move(walk), {}, {}};
  for (const ReplacedStep& step : data.walk.steps) {
    data.pieces.emplace_back(tokenizer.piece(step.token));
    data.drawn.emplace_back(tokenizer.piece(step.drawn));
  }
  return figure_of(std::move(data));
}

}  // namespace deberta
