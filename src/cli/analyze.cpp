// The verb `analyze`: what each attention head does with a text, in figures, or as a page for a browser.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/explanation.h"
#include "analysis/head_figures.h"
#include "base/base64.h"
#include "base/utf8.h"
#include "cli/explorer_page.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "decode/classification.h"
#include "heads/head_facts.h"
#include "pipeline/encodings.h"
#include "program/interrupt.h"
#include "program/output.h"
#include "program/progress_printer.h"
#include "program/text_verb.h"

namespace deberta::cli {
namespace {

struct HeadsAnswer {
  std::vector<HeadFigures> figures;
  JsonArray heads;
  size_t tokens = 0;
  size_t cut_tokens = 0;
};

std::vector<HeadsAnswer> heads_of(const Pipeline& pipeline, std::span<const TextInput> inputs,
                                  const EncodingRules& rules) {
  std::vector<HeadsAnswer> answers;
  for (const TextInput& input : inputs) {
    const Encoding encoding = encode_one(pipeline.tokenizer, input, rules);
    const AttentionTerms terms = attention_terms(pipeline.model, encoding);
    check_finite(terms);
    answers.push_back({head_figures(terms), heads_json(terms), encoding.size(), encoding.cut_tokens});
  }
  return answers;
}

program::RowAnswer to_row_answer(const HeadsAnswer& result) {
  program::RowAnswer answer{{{{"heads", result.heads}}, {}}, result.tokens, result.cut_tokens};
  for (const HeadFigures& figures : result.figures) {
    answer.answer.lines.push_back({program::cell(static_cast<uint64_t>(figures.layer)),
                                   program::cell(uint64_t{figures.head}), program::cell(figures.entropy),
                                   program::cell(figures.distance), program::cell(figures.first),
                                   program::cell(figures.c2c), program::cell(figures.c2p), program::cell(figures.p2c)});
  }
  return answer;
}

// ---- the page

// By term, one string for each head of each layer.
JsonObject values_json(const AttentionTerms& terms) {
  const size_t count = terms.tokens * terms.tokens;
  JsonObject values;
  const auto add = [&](const char* name, std::vector<float> LayerTerms::*term) {
    JsonArray heads;
    for (const LayerTerms& layer : terms.layers) {
      const std::span<const float> all = layer.*term;
      for (size_t head = 0; head < all.size() / count; ++head)
        heads.push_back(to_base64(half_bytes(all.subspan(head * count, count))));
    }
    if (!heads.empty()) values.emplace_back(name, std::move(heads));
  };
  add("c2c", &LayerTerms::c2c_HLL);
  add("c2p", &LayerTerms::c2p_HLL);
  add("p2c", &LayerTerms::p2c_HLL);
  return values;
}

// The words between white space, in bytes.
std::vector<Offset> words_of(const std::string& text) {
  constexpr const char* kSpace = " \t\n\v\f\r";
  std::vector<Offset> words;
  for (size_t at = text.find_first_not_of(kSpace); at != std::string::npos; at = text.find_first_not_of(kSpace, at)) {
    const size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    words.push_back({static_cast<uint32_t>(at), static_cast<uint32_t>(end)});
    at = end;
  }
  return words;
}

// The scores of a text and of the text without each of its words, in order. With a long text and a large model this
// takes minutes.
std::vector<SequenceAnswer> without_words(const AnalyzeVerb& verb, const Pipeline& pipeline, const Row& row,
                                          const std::vector<Offset>& words) {
  constexpr size_t kAtOnce = 16;
  std::vector<std::string> texts{row.text};
  for (const Offset& word : words) texts.push_back(row.text.substr(0, word.begin) + row.text.substr(word.end));
  std::vector<TextInput> inputs;
  for (std::string& text : texts) {
    if (text.empty()) text = " ";
    inputs.push_back({.text = text});
    if (row.pair) inputs.back().pair = *row.pair;
  }
  SequenceOptions options;
  options.rules = program::encoding_rules(verb.encoding);
  program::ProgressPrinter progress(verb.progress, words.size() > kAtOnce, {.items = "words"});
  std::vector<SequenceAnswer> answers;
  for (size_t begin = 0; begin < inputs.size(); begin += kAtOnce) {
    program::check_interrupted();
    const auto part = std::span(inputs).subspan(begin, std::min(kAtOnce, inputs.size() - begin));
    for (SequenceAnswer& answer : classify(pipeline, part, options)) answers.push_back(std::move(answer));
    progress.update(answers.size() - 1, 0, static_cast<double>(answers.size()) / static_cast<double>(inputs.size()));
  }
  return answers;
}

// How much the score of the first label falls without each word; null unless the model has labels.
Json occlusion_json(const AnalyzeVerb& verb, const Pipeline& pipeline, const Row& row) {
  if (!facts_of(pipeline.model.head()).is_per_sequence()) return {};
  const std::vector<Offset> words = words_of(row.text);
  const std::vector<SequenceAnswer> answers = without_words(verb, pipeline, row, words);
  const std::vector<float>& whole = answers.front().scores;
  const auto best = static_cast<size_t>(std::max_element(whole.begin(), whole.end()) - whole.begin());
  JsonArray falls;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view before = std::string_view(row.text).substr(0, words[i].begin);
    const std::string_view word = std::string_view(row.text).substr(words[i].begin, words[i].end - words[i].begin);
    const size_t start = count_code_points(before);
    falls.push_back(JsonObject{{"start", uint64_t{start}},
                               {"end", uint64_t{start + count_code_points(word)}},
                               {"fall", whole[best] - answers[i + 1].scores[best]}});
  }
  return JsonObject{{"label", label_name(pipeline.config.labels, best)}, {"score", whole[best]}, {"words", falls}};
}

void check_page(const Pipeline& pipeline, const Row& row, size_t tokens) {
  if (tokens > kMostExplainedTokens)
    throw Error(ErrorCode::kTextTooLong, row.where,
                fmt::format("expected at most {} tokens for a page, got {}", kMostExplainedTokens, tokens));
  constexpr uint64_t kMostBytes = 256'000'000;  // a browser reads them as one string
  const ModelConfig& config = pipeline.config;
  const auto heads = static_cast<uint64_t>(config.num_hidden_layers * config.num_attention_heads);
  const uint64_t bytes = heads * tokens * tokens * 3 * 8 / 3;  // three terms of two bytes, four letters for three bytes
  if (bytes > kMostBytes)
    throw Error(ErrorCode::kTextTooLong, row.where,
                fmt::format("expected a page of at most {} MB, got {} MB for {} tokens and {} heads",
                            kMostBytes / 1000000, bytes / 1000000, tokens, heads));
}

std::string page_of(const AnalyzeVerb& options, const Pipeline& pipeline, const Row& row) {
  const EncodingRules rules = program::encoding_rules(options.encoding);
  TextInput input{.text = row.text};
  if (row.pair) input.pair = *row.pair;
  const Encoding encoding = encode_one(pipeline.tokenizer, input, rules);
  check_page(pipeline, row, encoding.size());
  const AttentionTerms terms = attention_terms(pipeline.model, encoding);
  check_finite(terms);
  const Thumbnails pictures = thumbnails(terms, 40);
  const JsonObject data{
      {"model", JsonObject{{"name", options.model.name}}},
      {"text", row.text},
      {"second", row.pair.value_or("")},
      {"about", explanation_json(pipeline.config, pipeline.tokenizer, encoding, terms)},
      {"values", values_json(terms)},
      {"heads", heads_json(terms)},
      {"thumbnails", to_base64({reinterpret_cast<const char*>(pictures.pixels.data()), pictures.pixels.size()})},
      {"occlusion", occlusion_json(options, pipeline, row)},
  };
  return explorer_page(data);
}

// Where the page is written; empty: no page was requested.
std::string page_place(const AnalyzeVerb& options) {
  const std::string file = options.output.file.value_or("");
  const bool is_page = program::ending_of(file) == "html";
  if (is_page && !options.page.empty())
    throw Error(ErrorCode::kUsage, "--page", fmt::format("expected a single page, got another one in {}", file));
  return is_page ? file : options.page;
}

// The only row of the input.
Row single_row(const AnalyzeVerb& options, const program::RowReading& reading, const std::string& page) {
  std::vector<Row> rows;
  const auto take = [&](std::span<const Row> group) { rows.insert(rows.end(), group.begin(), group.end()); };
  if (program::collect_rows(reading, options.progress, take, {}) != 0) program::leave_unwritten(page);
  if (rows.size() != 1)
    throw Error(ErrorCode::kUsage, page == options.page ? "--page" : "--output",
                fmt::format("expected one text for a page, got {}", rows.size()));
  return std::move(rows.front());
}

const program::AnswerColumns& figure_columns() {
  static const program::AnswerColumns columns({"layer", "head", "entropy", "distance", "cls", "c2c", "c2p", "p2c"},
                                              true);
  return columns;
}

// The page, and beside it the figures if -o names a place for them.
int write_page(const AnalyzeVerb& options, const std::string& page_path, const program::RowReading& reading,
               const Pipeline& pipeline) {
  const Row row = single_row(options, reading, page_path);
  const std::string page = page_of(options, pipeline, row);
  if (const std::string file = options.output.file.value_or(""); !file.empty() && file != page_path) {
    const std::vector<TextInput> inputs = text_inputs(std::span(&row, 1));
    const std::vector<HeadsAnswer> heads = heads_of(pipeline, inputs, program::encoding_rules(options.encoding));
    program::with_output(options.output, [&](FileWriter& out) {
      program::AnswerWriter writer(program::answer_layout(options, figure_columns()), out);
      writer.answer(row, program::marked(row, to_row_answer(heads.front())));
      writer.finish();
    });
  }
  program::write_output(page_path, [&](FileWriter& out) { out.write(page); });
  return 0;
}

}  // namespace

int run(const AnalyzeVerb& options) {
  const std::string page = page_place(options);
  const Pipeline pipeline = program::open_model(options.model);
  program::RowReading reading = program::reading_of(options);
  if (options.pair) reading.shape = program::pair_shape();
  if (!page.empty()) return write_page(options, page, reading, pipeline);
  const EncodingRules rules = program::encoding_rules(options.encoding);
  return program::run_text_verb(
      options, reading, pipeline, figure_columns(),
      [&](std::span<const TextInput> inputs) { return heads_of(pipeline, inputs, rules); },
      [](const Row&, const HeadsAnswer& result) { return to_row_answer(result); });
}

}  // namespace deberta::cli
