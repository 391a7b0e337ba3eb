// Ranked predictions in every form, and fillings, as lines, objects, arrays and bars.
// M masks  V vocabulary
#include "analysis/decoder_figures.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <utility>

#include "analysis/explanation.h"
#include "analysis/mask_predictions.h"
#include "analysis/token_labels.h"
#include "decode/text_score.h"

namespace deberta {
namespace {

struct Predictions {
  DecoderEffect effect;
  std::vector<std::vector<MaskForm>> masks;  // by mask: each form

  size_t words() const { return effect.with.logits_MV.size() / effect.masks.size(); }
};

// ---- predictions

std::vector<FigureLine> lines_of(const Predictions& all) {
  std::vector<FigureLine> lines;
  for (size_t mask = 0; mask < all.masks.size(); ++mask) {
    for (const MaskForm& form : all.masks[mask]) {
      for (size_t rank = 0; rank < form.best.size(); ++rank)
        lines.push_back({static_cast<int64_t>(mask + 1), static_cast<int64_t>(all.effect.masks[mask]),
                         std::string(form.form), static_cast<int64_t>(rank + 1), form.best[rank].token_str,
                         form.best[rank].score.score, int64_t{form.best[rank].score.id}, form.logit_change,
                         form.hidden_change});
    }
  }
  return lines;
}

JsonObject form_json(const MaskForm& form) {
  JsonArray tokens;
  for (const RankedToken& one : form.best)
    tokens.push_back(JsonObject{{"token_str", one.token_str},
                                {"token", int64_t{one.score.id}},
                                {"piece", one.piece},
                                {"score", one.score.score},
                                {"logit", one.score.logit}});
  return {{"form", form.form},
          {"logit_change", form.logit_change},
          {"hidden_change", form.hidden_change},
          {"tokens", std::move(tokens)}};
}

JsonObject object_of(const Predictions& all) {
  JsonArray masks;
  for (size_t mask = 0; mask < all.masks.size(); ++mask) {
    JsonArray forms;
    for (const MaskForm& form : all.masks[mask]) forms.push_back(form_json(form));
    masks.push_back(JsonObject{{"position", uint64_t{all.effect.masks[mask]}}, {"forms", std::move(forms)}});
  }
  return {{"masks", std::move(masks)}};
}

std::vector<FigureArray> arrays_of(const Predictions& all) {
  const Shape shape{static_cast<int64_t>(all.masks.size()), static_cast<int64_t>(all.words())};
  std::vector<FigureArray> arrays;
  for (const PredictionForm& form : forms_of(all.effect))
    arrays.push_back({.name = std::string(form.name), .shape = shape, .values = form.predictions->logits_MV});
  return arrays;
}

// The tokens that any form has among its best, those of the first form first.
std::vector<RankedToken> candidates_of(const std::vector<MaskForm>& forms) {
  std::vector<RankedToken> candidates;
  std::set<int32_t> seen;
  for (const MaskForm& form : forms) {
    for (const RankedToken& one : form.best) {
      if (seen.insert(one.score.id).second) candidates.push_back(one);
    }
  }
  return candidates;
}

chart::Picture mask_picture(const Predictions& all, size_t mask) {
  const std::vector<RankedToken> candidates = candidates_of(all.masks[mask]);
  chart::BarChart chart{.title = fmt::format("mask {}, token {}", mask + 1, all.effect.masks[mask]),
                        .x_title = "probability",
                        .labels = {},
                        .series = {}};
  for (const RankedToken& one : candidates) chart.labels.push_back(labels_of({one.piece}).front());
  for (const PredictionForm& form : forms_of(all.effect)) {
    chart::Bars& bars = chart.series.emplace_back(chart::Bars{.name = std::string(form.title), .values = {}});
    for (const RankedToken& one : candidates)
      bars.values.push_back(std::exp(log_probability(logits_at(all.effect, *form.predictions, mask), one.score.id)));
  }
  return chart::draw(chart);
}

chart::Picture picture_of(const Predictions& all) {
  std::vector<chart::Picture> pictures;
  for (size_t mask = 0; mask < all.masks.size(); ++mask) pictures.push_back(mask_picture(all, mask));
  chart::Picture picture = chart::arranged(pictures, 2);
  picture.title = "what the mask decoder and the positions change in the predictions";
  return picture;
}

// ---- fillings

struct Fillings {
  std::vector<WordFilling> all;
};

std::string text_of(const WordFilling& filling) {
  return fmt::format("{}", fmt::join(filling.words, " ... "));
}

std::vector<FigureLine> lines_of(const Fillings& fillings) {
  std::vector<FigureLine> lines;
  for (const WordFilling& filling : fillings.all) lines.push_back({text_of(filling), filling.with, filling.without});
  return lines;
}

JsonObject object_of(const Fillings& fillings) {
  return {{"fillings", fillings_json(fillings.all)}};
}

std::vector<FigureArray> arrays_of(const Fillings& fillings) {
  FigureArray array{.name = "log_probability", .shape = {static_cast<int64_t>(fillings.all.size()), 2}};
  for (const WordFilling& filling : fillings.all)
    array.values.insert(array.values.end(), {static_cast<float>(filling.with), static_cast<float>(filling.without)});
  return {std::move(array)};
}

chart::Picture picture_of(const Fillings& fillings) {
  chart::BarChart chart{.title = "words at the masks, with and without the mask decoder",
                        .x_title = "natural logarithm of their probability",
                        .labels = {},
                        .series = {{.name = "with", .values = {}}, {.name = "without", .values = {}}}};
  for (const WordFilling& filling : fillings.all) {
    chart.labels.push_back(text_of(filling));
    chart.series[0].values.push_back(filling.with);
    chart.series[1].values.push_back(filling.without);
  }
  return chart::draw(chart);
}

}  // namespace

FigureColumns prediction_columns() {
  return {"mask", "position", "form", "rank", "token_str", "score", "token", "logit_change", "hidden_change"};
}

Figure prediction_figure(DecoderEffect effect, const Tokenizer& tokenizer, size_t top_k) {
  std::vector<std::vector<MaskForm>> masks = rank_predictions(effect, tokenizer, top_k);
  return figure_of(Predictions{std::move(effect), std::move(masks)});
}

FigureColumns filling_columns() {
  return {"words", "with", "without"};
}

Figure filling_figure(std::vector<WordFilling> fillings) {
  return figure_of(Fillings{std::move(fillings)});
}

}  // namespace deberta
