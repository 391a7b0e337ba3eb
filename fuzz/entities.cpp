// Rows with entities: each that is accepted has its entities within its text, in order, and is written in the form of
// places in characters and read back the same.
#include <algorithm>

#include "base/utf8.h"
#include "data/code_points.h"
#include "data/entity_rows.h"
#include "data/json_rows.h"
#include "fuzz.h"

namespace deberta::fuzz {
namespace {

Json written(const EntityRow& row) {
  const CodePointTable places(row.text);
  JsonArray entities;
  for (const LabelledSpan& entity : row.entities) {
    const TextSpan span = places.span_of_bytes(entity.begin, entity.end);
    entities.push_back(JsonObject{{"start", static_cast<uint64_t>(span.begin_char)},
                                  {"end", static_cast<uint64_t>(span.end_char)},
                                  {"label", entity.label}});
  }
  JsonObject members{{"text", row.text}, {"entities", std::move(entities)}};
  if (row.labels) members.emplace_back("labels", JsonArray(row.labels->begin(), row.labels->end()));
  return members;
}

void check(const EntityRow& row) {
  FUZZ_REQUIRE(is_valid_utf8(row.text) && row.tags.size() == row.words.size());
  FUZZ_REQUIRE(row.tags.empty() || row.entities.empty());
  for (const LabelledSpan& entity : row.entities) {
    FUZZ_REQUIRE(entity.begin < entity.end && entity.end <= row.text.size() && !entity.label.empty());
    FUZZ_REQUIRE(is_valid_utf8(std::string_view(row.text).substr(entity.begin, entity.end - entity.begin)));
  }
  std::vector<LabelledSpan> ordered = row.entities;
  order_entities(ordered);
  FUZZ_REQUIRE(ordered == row.entities);
  if (!row.tags.empty()) return;
  const EntityRow again = read_entity_row(written(row), "again");
  FUZZ_REQUIRE(again.text == row.text && again.entities == row.entities && again.labels == row.labels);
}

}  // namespace

void run(Bytes input) {
  JsonLineReader reader(LineReader(ByteSource(input, "in")));
  for (JsonRow row; reader.next(row);) {
    if (row.error) continue;
    try {
      check(read_entity_row(row.value, row.where));
    } catch (const Error& error) {
      FUZZ_REQUIRE(error.code() == ErrorCode::kInput && error.problems().front().where.starts_with("in:"));
    }
  }
}

}  // namespace deberta::fuzz
