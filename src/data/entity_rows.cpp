// Chooses the form by its keys, and turns places in words or characters into places in bytes.
#include "data/entity_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/ascii.h"
#include "data/code_points.h"
#include "data/json_members.h"

namespace deberta {
namespace {

[[noreturn]] void refuse(const std::string& where, std::string message) {
  throw Error(ErrorCode::kInput, where, std::move(message));
}

std::string place_of(const std::string& where, std::string_view key, size_t index) {
  return fmt::format("{}: {}/{}", where, key, index);
}

// The first of the keys that the row has; empty: none.
std::string_view first_key(const Json& row, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const Json* value = row.find(key);
    if (value != nullptr && !value->is_null()) return key;
  }
  return {};
}

std::vector<std::string> texts_of(const JsonArray& items, std::string_view key, const std::string& where) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is_string()) text_value(items[i], fmt::format("{}/{}", key, i), where);  // refuses it
    texts.push_back(items[i].as_string());
  }
  return texts;
}

std::string label_text(const Json& value, const std::string& where) {
  const std::string& label = text_value(value, "label", where);
  if (strip(label).empty()) refuse(where, "label: expected a text, got an empty one");
  return label;
}

// Without the white space at its ends, which no word has.
LabelledSpan trimmed(std::string_view text, size_t begin, size_t end, std::string label, const std::string& where) {
  const std::string_view inside = strip(text.substr(begin, end - begin));
  if (inside.empty()) refuse(where, "expected a part of the text that is no white space");
  const auto first = static_cast<size_t>(inside.data() - text.data());
  return {first, first + inside.size(), std::move(label)};
}

// ---- {"text": ..., "entities": [{"start": ..., "end": ..., "label": ...}]}

void read_spans(const Json& row, EntityRow& read) {
  read.text = text_member(row, "text", read.where);
  const JsonArray& items = array_member(row, "entities", read.where);
  const CodePointTable places(read.text);
  const auto size = static_cast<int64_t>(places.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string where = place_of(read.where, "entities", i);
    if (!items[i].is_object()) refuse(where, fmt::format("expected an object, got {}", items[i].describe()));
    const int64_t begin = integer_member(items[i], "start", where), end = integer_member(items[i], "end", where);
    if (begin < 0 || end <= begin || end > size)
      refuse(where, fmt::format("expected a range in a text of {} characters, got {} to {}", size, begin, end));
    const std::string_view key = first_key(items[i], {"label", "entity_group"});
    if (key.empty()) refuse(where, fmt::format("no label, got {}", key_list(items[i])));
    read.entities.push_back(trimmed(read.text, places.byte_of(static_cast<size_t>(begin)),
                                    places.byte_of(static_cast<size_t>(end)), label_text(*items[i].find(key), where),
                                    where));
  }
}

// ---- {"tokenized_text": [...], "ner": [[first, last, label], ...]}

// Where each word is in the text of all; one byte apart.
std::vector<std::pair<size_t, size_t>> places_of_words(const std::vector<std::string>& words) {
  std::vector<std::pair<size_t, size_t>> places;
  size_t begin = 0;
  for (const std::string& word : words) {
    places.emplace_back(begin, begin + word.size());
    begin += word.size() + 1;
  }
  return places;
}

void read_words(const Json& row, EntityRow& read) {
  const std::vector<std::string> words =
      texts_of(array_member(row, "tokenized_text", read.where), "tokenized_text", read.where);
  const std::vector<std::pair<size_t, size_t>> places = places_of_words(words);
  read.text = join_words(words);
  const JsonArray& items = array_member(row, "ner", read.where);
  const auto count = static_cast<int64_t>(words.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string where = place_of(read.where, "ner", i);
    const bool is_triple = items[i].is_array() && items[i].as_array().size() == 3 &&
                           items[i].as_array()[0].is_integer() && items[i].as_array()[1].is_integer();
    if (!is_triple) refuse(where, fmt::format("expected [first word, last word, label], got {}", items[i].describe()));
    const JsonArray& triple = items[i].as_array();
    const int64_t first = triple[0].as_integer(), last = triple[1].as_integer();
    if (first < 0 || last < first || last >= count)
      refuse(where, fmt::format("expected a range of {} words, got {} to {}", count, first, last));
    read.entities.push_back(trimmed(read.text, places[static_cast<size_t>(first)].first,
                                    places[static_cast<size_t>(last)].second, label_text(triple[2], where), where));
  }
}

// ---- {"tokens": [...], "ner_tags": [...]}

void read_tags(const Json& row, std::string_view words, EntityRow& read) {
  read.words = texts_of(array_member(row, words, read.where), words, read.where);
  const std::string_view tags = first_key(row, {"ner_tags", "tags", "labels"});
  if (tags.empty()) refuse(read.where, fmt::format("no ner_tags, got {}", key_list(row)));
  read.tags = texts_of(array_member(row, tags, read.where), tags, read.where);
  if (read.tags.size() != read.words.size())
    refuse(read.where,
           fmt::format("{}: expected {}, one for each word, got {}", tags, read.words.size(), read.tags.size()));
  read.text = join_words(read.words);
}

// The labels that a row was searched for, under the names that GLiNER's trainer has for them, or as `extract` has them.
void read_labels(const Json& row, std::initializer_list<std::string_view> keys, EntityRow& read) {
  const std::string_view key = first_key(row, keys);
  if (key.empty()) return;
  read.labels = texts_of(array_member(row, key, read.where), key, read.where);
  for (const std::string& label : *read.labels) {
    if (strip(label).empty()) refuse(read.where, fmt::format("{}: expected texts, got an empty one", key));
  }
}

}  // namespace

std::string join_words(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

void order_entities(std::vector<LabelledSpan>& entities) {
  const auto key = [](const LabelledSpan& span) { return std::tie(span.begin, span.end, span.label); };
  std::ranges::sort(entities, {}, key);
  entities.erase(std::unique(entities.begin(), entities.end()), entities.end());
}

EntityRow read_entity_row(const Json& row, const std::string& where) {
  EntityRow read{.where = where};
  if (!row.is_object()) refuse(where, fmt::format("expected an object, got {}", row.describe()));
  const std::string_view words = first_key(row, {"tokens", "words"});
  if (row.find("tokenized_text") != nullptr) {
    read_words(row, read);
  } else if (row.find("text") != nullptr) {
    read_spans(row, read);
  } else if (!words.empty()) {
    read_tags(row, words, read);
    read_labels(row, {"ner_labels", "ner_negatives"}, read);  // what is called labels there may be the tags
    return read;
  } else {
    refuse(where, fmt::format("expected text and entities, tokenized_text and ner, or tokens and ner_tags, got {}",
                              key_list(row)));
  }
  read_labels(row, {"ner_labels", "ner_negatives", "labels"}, read);
  order_entities(read.entities);
  return read;
}

}  // namespace deberta
