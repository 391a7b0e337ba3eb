// Matrices as lines, objects, arrays and maps on one scale.
// L tokens  Q queries shown  S keys shown
#include "analysis/term_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "analysis/head_number.h"
#include "analysis/token_labels.h"

namespace deberta {
namespace {

constexpr size_t kWeight = 4;  // in kTermNames; what comes before is scores

struct About {
  std::string_view title, note;
};
constexpr std::array<About, kTermNames.size()> kAbout = {
    About{"content to content (c2c)", "what the query's word asks of the key's word"},
    About{"content to position (c2p)", "what the query's word asks of the key's distance"},
    About{"position to content (p2c)", "what the distance asks of the key's word"},
    About{"sum", "c2c + c2p + p2c, before the softmax"},
    About{"weights", "what the query takes of each key's value"},
};

std::array<const std::vector<float>*, kTermNames.size()> terms_of(const LayerTerms& layer) {
  return {&layer.c2c_HLL, &layer.c2p_HLL, &layer.p2c_HLL, &layer.sum_HLL, &layer.softmax_HLL};
}

std::vector<size_t> all_unless(const std::vector<size_t>& chosen, size_t tokens) {
  if (!chosen.empty()) return chosen;
  std::vector<size_t> all(tokens);
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

// Of one head, or the mean of all.
float value_of(const AttentionTerms& terms, const std::vector<float>& term_HLL, std::optional<size_t> head,
               size_t query, size_t key) {
  const auto at = [&](size_t h) { return term_HLL[(h * terms.tokens + query) * terms.tokens + key]; };
  if (head) return at(*head);
  double sum = 0;
  for (size_t h = 0; h < terms.heads; ++h) sum += at(h);
  return static_cast<float>(sum / static_cast<double>(terms.heads));
}

TermPlace term_place(const AttentionTerms& terms, const LayerTerms& layer, const std::vector<std::string>& pieces,
                     const TermChoice& choice) {
  TermPlace place{.layer = layer.layer,
                  .head = choice.head,
                  .pieces = pieces,
                  .queries = all_unless(choice.queries, terms.tokens),
                  .keys = all_unless(choice.keys, terms.tokens)};
  const auto all = terms_of(layer);
  for (size_t term = 0; term < all.size(); ++term) {
    if (all[term]->empty()) continue;
    for (const size_t query : place.queries) {
      for (const size_t key : place.keys)
        place.values_QS[term].push_back(value_of(terms, *all[term], choice.head, query, key));
    }
  }
  return place;
}

bool is_pair(const TermPlace& place) {
  return place.queries.size() == 1 && place.keys.size() == 1;
}

std::string place_text(const TermMatrices& matrices, const TermPlace& place) {
  return fmt::format("{}{}{} {}, {}", place.side, place.side.empty() ? "" : ", ", matrices.place, place.layer,
                     place.head ? fmt::format("head {}", head_number(*place.head)) : std::string("mean of all heads"));
}

// As short as the label of a row has to be: "text 1: 3.1" is the first head of layer 3.
std::string place_label(const TermPlace& place) {
  return fmt::format("{}{}{}{}", place.side, place.side.empty() ? "" : ": ", place.layer,
                     place.head ? fmt::format(".{}", head_number(*place.head)) : std::string());
}

// ---- lines, objects, arrays

std::vector<FigureLine> lines_of(const TermMatrices& matrices) {
  std::vector<FigureLine> lines;
  for (const TermPlace& place : matrices.places) {
    for (size_t at = 0; at < place.queries.size() * place.keys.size(); ++at) {
      const size_t query = place.queries[at / place.keys.size()], key = place.keys[at % place.keys.size()];
      FigureLine& line = lines.emplace_back();
      if (matrices.has_sides) line.emplace_back(place.side);
      line.emplace_back(int64_t{place.layer});
      line.push_back(place.head ? FigureValue(head_number(*place.head)) : FigureValue());
      line.insert(line.end(),
                  {static_cast<int64_t>(query), static_cast<int64_t>(key), place.pieces[query], place.pieces[key]});
      for (const std::vector<float>& values : place.values_QS)
        line.push_back(values.empty() ? FigureValue() : FigureValue(values[at]));
    }
  }
  return lines;
}

JsonArray numbers_json(const std::vector<size_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

Json matrix_json(const std::vector<float>& values, size_t columns) {
  if (values.empty()) return {};
  JsonArray rows;
  for (auto row = values.begin(); row != values.end(); row += static_cast<std::ptrdiff_t>(columns))
    rows.emplace_back(JsonArray(row, row + static_cast<std::ptrdiff_t>(columns)));
  return rows;
}

JsonObject object_of(const TermMatrices& matrices) {
  JsonArray places;
  for (const TermPlace& place : matrices.places) {
    JsonObject object;
    if (matrices.has_sides) object.emplace_back("side", place.side);
    object.emplace_back(matrices.place, int64_t{place.layer});
    object.emplace_back("head", place.head ? Json(head_number(*place.head)) : Json());
    object.emplace_back("tokens", JsonArray(place.pieces.begin(), place.pieces.end()));
    object.emplace_back("queries", numbers_json(place.queries));
    object.emplace_back("keys", numbers_json(place.keys));
    for (size_t term = 0; term < kTermNames.size(); ++term)
      object.emplace_back(std::string(kTermNames[term]), matrix_json(place.values_QS[term], place.keys.size()));
    places.emplace_back(std::move(object));
  }
  return {{"places", std::move(places)}};
}

Shape shape_of(const TermMatrices& matrices, size_t places) {
  const TermPlace& place = matrices.places.front();
  Shape shape;
  if (places > 1 || is_pair(place)) shape.push_back(static_cast<int64_t>(places));
  if (!is_pair(place))
    shape.insert(shape.end(), {static_cast<int64_t>(place.queries.size()), static_cast<int64_t>(place.keys.size())});
  return shape;
}

// A pair has a number in each head: one array for each side and term, as without sides.
std::vector<FigureArray> pair_arrays_of_sides(const TermMatrices& matrices) {
  std::vector<FigureArray> arrays;
  for (const TermPlace& place : matrices.places) {
    for (size_t term = 0; term < kTermNames.size(); ++term) {
      if (place.values_QS[term].empty()) continue;
      const std::string name = fmt::format("{}.{}", place.side, kTermNames[term]);
      auto array = std::ranges::find(arrays, name, &FigureArray::name);
      if (array == arrays.end()) array = arrays.insert(arrays.end(), {.name = name, .shape = {0}, .values = {}});
      array->values.push_back(place.values_QS[term].front());
      ++array->shape.front();
    }
  }
  return arrays;
}

// Two texts have matrices of two sizes.
std::vector<FigureArray> arrays_of_sides(const TermMatrices& matrices) {
  if (!matrices.places.empty() && is_pair(matrices.places.front())) return pair_arrays_of_sides(matrices);
  std::vector<FigureArray> arrays;
  for (const TermPlace& place : matrices.places) {
    for (size_t term = 0; term < kTermNames.size(); ++term) {
      if (place.values_QS[term].empty()) continue;
      arrays.push_back({.name = fmt::format("{}.{}.{}.{}", place.side, matrices.place, place.layer, kTermNames[term]),
                        .shape = shape_of({.title = {}, .places = {place}}, 1),
                        .values = place.values_QS[term]});
    }
  }
  return arrays;
}

std::vector<FigureArray> arrays_of(const TermMatrices& matrices) {
  if (matrices.has_sides) return arrays_of_sides(matrices);
  std::vector<FigureArray> arrays;
  for (size_t term = 0; term < kTermNames.size(); ++term) {
    FigureArray array{.name = std::string(kTermNames[term]), .shape = shape_of(matrices, matrices.places.size())};
    for (const TermPlace& place : matrices.places)
      array.values.insert(array.values.end(), place.values_QS[term].begin(), place.values_QS[term].end());
    if (!array.values.empty()) arrays.push_back(std::move(array));
  }
  return arrays;
}

// ---- pictures

// The largest score of all places, so that all their maps share a scale.
double largest(const TermMatrices& matrices, bool are_weights) {
  double most = 0;
  for (const TermPlace& place : matrices.places) {
    for (size_t term = 0; term < kTermNames.size(); ++term) {
      if ((term == kWeight) != are_weights) continue;
      for (const float value : place.values_QS[term]) most = std::max(most, std::abs(double{value}));
    }
  }
  return most;
}

std::vector<std::string> labels_at(const std::vector<std::string>& pieces, const std::vector<size_t>& tokens) {
  std::vector<std::string> chosen;
  for (const size_t token : tokens) chosen.push_back(pieces[token]);
  return labels_of(chosen);
}

chart::HeatMap matrix_map(const TermMatrices& matrices, const TermPlace& place, size_t term, double most) {
  return {.title = matrices.draws_weights_only ? place.side : std::string(kAbout[term].title),
          .x_title = "key",
          .y_title = "query",
          .value_title = fmt::format("{}; {}", place_text(matrices, place), kAbout[term].note),
          .columns = labels_at(place.pieces, place.keys),
          .rows = labels_at(place.pieces, place.queries),
          .values = {place.values_QS[term].begin(), place.values_QS[term].end()},
          .ramp = term == kWeight ? chart::Ramp::kSequential : chart::Ramp::kDiverging,
          .most = most,
          .width = std::clamp(190 + 36.0 * static_cast<double>(place.keys.size()), 380.0, 620.0)};
}

// A row of maps for each place where all terms are drawn.
chart::Picture matrices_picture(const TermMatrices& matrices) {
  const double score = largest(matrices, false), weight = largest(matrices, true);
  std::vector<chart::Picture> maps;
  size_t of_place = 0;
  for (const TermPlace& place : matrices.places) {
    const size_t before = maps.size();
    for (size_t term = matrices.draws_weights_only ? kWeight : 0; term < kTermNames.size(); ++term) {
      if (!place.values_QS[term].empty())
        maps.push_back(chart::draw(matrix_map(matrices, place, term, term == kWeight ? weight : score)));
    }
    of_place = maps.size() - before;
  }
  constexpr size_t kMostColumns = 3;
  return chart::arranged(maps, matrices.places.size() > 1 && of_place > 1 ? of_place : kMostColumns);
}

// Places below each other, a column for each term.
chart::Picture pair_picture(const TermMatrices& matrices) {
  const bool has_heads = matrices.places.front().head.has_value();
  chart::HeatMap scores{.title = matrices.title,
                        .y_title = matrices.place + (has_heads ? ".head" : ", mean of all heads"),
                        .value_title = "scores",
                        .columns = {},
                        .rows = {},
                        .values = {},
                        .ramp = chart::Ramp::kDiverging,
                        .width = 420};
  chart::HeatMap weights{.title = "weight of the pair",
                         .columns = {std::string(kTermNames[kWeight])},
                         .rows = {},
                         .values = {},
                         .width = 300};
  for (const TermPlace& place : matrices.places) {
    scores.rows.push_back(place_label(place));
    for (size_t term = 0; term < kTermNames.size(); ++term) {
      const std::vector<float>& value = place.values_QS[term];
      (term == kWeight ? weights : scores).values.push_back(value.empty() ? chart::kMissing : double{value.front()});
      if (term != kWeight && scores.columns.size() < kWeight) scores.columns.emplace_back(kTermNames[term]);
    }
  }
  weights.rows = scores.rows;
  return chart::arranged({chart::draw(scores), chart::draw(weights)}, 2);
}

chart::Picture picture_of(const TermMatrices& matrices) {
  chart::Picture picture = !matrices.places.empty() && is_pair(matrices.places.front()) ? pair_picture(matrices)
                                                                                        : matrices_picture(matrices);
  picture.title = matrices.title;
  return picture;
}

// Whose functions are those above.
struct Drawn : TermMatrices {};

// ---- quantiles

struct Spread {
  std::vector<HeadQuantiles> heads;
};

struct NamedQuantiles {
  std::string_view name;
  std::optional<Quantiles> values;
};
std::array<NamedQuantiles, 4> terms_of(const HeadQuantiles& head) {
  return {NamedQuantiles{"c2c", head.c2c}, {"c2p", head.c2p}, {"p2c", head.p2c}, {"sum", head.sum}};
}

std::array<double, 5> parts_of(const Quantiles& quantiles) {
  return {quantiles.low, quantiles.lower, quantiles.median, quantiles.upper, quantiles.high};
}

std::vector<FigureLine> lines_of(const Spread& spread) {
  std::vector<FigureLine> lines;
  for (const HeadQuantiles& head : spread.heads) {
    for (const NamedQuantiles& term : terms_of(head)) {
      FigureLine& line =
          lines.emplace_back(FigureLine{int64_t{head.layer}, head_number(head.head), std::string(term.name)});
      for (size_t part = 0; part < 5; ++part)
        line.push_back(term.values ? FigureValue(parts_of(*term.values)[part]) : FigureValue());
    }
  }
  return lines;
}

JsonObject object_of(const Spread& spread) {
  JsonArray heads;
  for (const HeadQuantiles& head : spread.heads) {
    JsonObject object{{"layer", int64_t{head.layer}}, {"head", head_number(head.head)}};
    for (const NamedQuantiles& term : terms_of(head)) {
      JsonArray parts;
      if (term.values) {
        for (const double part : parts_of(*term.values)) parts.emplace_back(part);
      }
      object.emplace_back(std::string(term.name), term.values ? Json(std::move(parts)) : Json());
    }
    heads.emplace_back(std::move(object));
  }
  return {{"heads", std::move(heads)}};
}

std::vector<FigureArray> arrays_of(const Spread& spread) {
  FigureArray array{.name = "quantiles", .shape = {}};
  int64_t terms = 0;
  for (const HeadQuantiles& head : spread.heads) {
    terms = 0;
    for (const NamedQuantiles& term : terms_of(head)) {
      if (!term.values) continue;
      ++terms;
      for (const double part : parts_of(*term.values)) array.values.push_back(static_cast<float>(part));
    }
  }
  array.shape = {static_cast<int64_t>(spread.heads.size()), terms, 5};
  return {std::move(array)};
}

chart::Picture picture_of(const Spread& spread) {
  chart::BoxPlot plot{.title = "how the scores of each term spread over all pairs of query and key",
                      .x = {.title = "score: ends, quartiles and median"},
                      .labels = {},
                      .series = {}};
  for (const HeadQuantiles& head : spread.heads) {
    plot.labels.push_back(fmt::format("layer {}, head {}", head.layer, head_number(head.head)));
    size_t number = 0;
    for (const NamedQuantiles& term : terms_of(head)) {
      if (!term.values) continue;
      if (plot.series.size() == number) plot.series.push_back({.name = std::string(term.name), .values = {}});
      const Quantiles& of = *term.values;
      plot.series[number++].values.push_back({of.low, of.lower, of.median, of.upper, of.high});
    }
  }
  return chart::draw(plot);
}

}  // namespace

std::vector<TermPlace> layer_places(const AttentionTerms& terms, const std::vector<std::string>& pieces,
                                    const TermChoice& choice) {
  std::vector<TermPlace> places;
  for (const LayerTerms& layer : terms.layers) places.push_back(term_place(terms, layer, pieces, choice));
  return places;
}

std::vector<TermPlace> head_places(const AttentionTerms& terms, const std::vector<std::string>& pieces,
                                   const TermChoice& choice) {
  if (choice.head) return layer_places(terms, pieces, choice);
  std::vector<TermPlace> places;
  for (const LayerTerms& layer : terms.layers) {
    for (size_t head = 0; head < terms.heads; ++head)
      places.push_back(term_place(terms, layer, pieces, {head, choice.queries, choice.keys}));
  }
  return places;
}

FigureColumns term_columns(std::string_view place, std::string_view side) {
  FigureColumns columns;
  if (!side.empty()) columns.push_back(side);
  columns.insert(columns.end(), {place, "head", "query", "key", "query_token", "key_token"});
  columns.insert(columns.end(), kTermNames.begin(), kTermNames.end());
  return columns;
}

Figure term_figure(TermMatrices matrices) {
  return figure_of(Drawn{std::move(matrices)});
}

FigureColumns quantile_columns() {
  return {"layer", "head", "term", "low", "lower", "median", "upper", "high"};
}

Figure quantile_figure(std::vector<HeadQuantiles> heads) {
  return figure_of(Spread{std::move(heads)});
}

}  // namespace deberta
