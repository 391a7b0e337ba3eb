// Accepts BertProcessing, RobertaProcessing and TemplateProcessing where they amount to one of two templates.
#include "text/hf_json/token_template.h"

#include <fmt/format.h>

#include <vector>

#include "deberta/error.h"
#include "text/hf_json/json_fields.h"

namespace deberta {
namespace {

constexpr std::string_view kExpected = "expected [CLS] A [SEP] and [CLS] A [SEP] B [SEP], or two [SEP] between";

[[noreturn]] void refuse_form(const std::string& where, const std::string& got) {
  throw Error(ErrorCode::kUnsupported, where, fmt::format("{}; got {}", kExpected, got));
}

// One element of a template: a special token or a text.
struct Element {
  std::string text;  // text of a special token; empty: "A" or "B"
  bool is_second = false;
  int32_t type = 0;
};

Element read_element(const Json& value, const std::string& where) {
  if (!value.is_object() || value.as_object().size() != 1)
    refuse_tokenizer_file(where, fmt::format("expected SpecialToken or Sequence, got {}", value.describe()));
  const auto& [kind, fields] = value.as_object().front();
  Element element;
  const std::string& id = string_field(fields, "id", where);
  const Json* type = fields.find("type_id");
  if (type == nullptr || !type->is_integer() || type->as_integer() < 0 || type->as_integer() > 1)
    refuse_form(where, fmt::format("type_id {}", type == nullptr ? "none" : type->describe()));
  element.type = static_cast<int32_t>(type->as_integer());
  if (kind == "SpecialToken") {
    element.text = id;
  } else {
    element.is_second = id == "B";
  }
  return element;
}

std::vector<Element> read_elements(const Json& component, std::string_view key, const std::string& where) {
  std::vector<Element> elements;
  for (const Json& value : array_field(component, key, where)) elements.push_back(read_element(value, where));
  return elements;
}

int32_t single_id(const Json& component, const std::string& token, const std::string& where) {
  const Json* tokens = component.find("special_tokens");
  const Json* entry = tokens == nullptr ? nullptr : tokens->find(token);
  if (entry == nullptr) refuse_tokenizer_file(where, fmt::format("special_tokens: expected {}", quote_json(token)));
  const JsonArray& ids = array_field(*entry, "ids", where);
  if (ids.size() != 1 || !ids.front().is_integer() || ids.front().as_integer() < 0 ||
      ids.front().as_integer() > INT32_MAX) {
    refuse_form(where, fmt::format("{} for {} ids", quote_json(token), ids.size()));
  }
  return static_cast<int32_t>(ids.front().as_integer());
}

TokenTemplate read_processing(const Json& component, const std::string& where) {
  const std::vector<Element> single = read_elements(component, "single", where);
  const std::vector<Element> pair = read_elements(component, "pair", where);
  const auto is_special = [](const Element& e) { return !e.text.empty(); };
  const bool is_single = single.size() == 3 && is_special(single[0]) && !is_special(single[1]) &&
                         !single[1].is_second && is_special(single[2]) &&
                         single[0].type + single[1].type + single[2].type == 0;
  if (!is_single) refuse_form(where, fmt::format("a different template of {} elements for one text", single.size()));
  TokenTemplate result{single_id(component, single[0].text, where), single_id(component, single[2].text, where)};
  result.doubles_separator = pair.size() == 6;
  const size_t second = result.doubles_separator ? 4 : 3;
  bool is_pair = pair.size() == second + 2;
  for (size_t i = 0; is_pair && i < pair.size(); ++i) {
    const std::string expected = i == 0 ? single[0].text : i == 1 || i == second ? "" : single[2].text;
    const int32_t type = i < second ? 0 : pair[second].type;
    is_pair = pair[i].text == expected && pair[i].type == type && pair[i].is_second == (i == second);
  }
  if (!is_pair) refuse_form(where, fmt::format("a different template of {} elements for a pair", pair.size()));
  result.second_type = pair[second].type;
  return result;
}

// ["[SEP]", 2]
int32_t paired_id(const Json& component, std::string_view key, const std::string& where) {
  const JsonArray& pair = array_field(component, key, where);
  if (pair.size() != 2 || !pair[1].is_integer() || pair[1].as_integer() < 0 || pair[1].as_integer() > INT32_MAX)
    refuse_tokenizer_file(where, fmt::format("{}: expected [token, id]", key));
  return static_cast<int32_t>(pair[1].as_integer());
}

}  // namespace

TokenTemplate read_token_template(const Json& post_processor, const std::string& where) {
  std::optional<TokenTemplate> result;
  for (const Json* component : components_of(post_processor, "processors", where)) {
    const std::string& type = component_type(*component, where);
    if (type == "ByteLevel") continue;  // offsets only
    if (result) refuse_form(where, "several");
    if (type == "TemplateProcessing") {
      result = read_processing(*component, where);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      result = TokenTemplate{paired_id(*component, "cls", where), paired_id(*component, "sep", where)};
      if (type == "RobertaProcessing") result->doubles_separator = true;
      if (type == "RobertaProcessing") result->second_type = 0;
    } else {
      refuse_component(type, where);
    }
  }
  if (!result) refuse_form(where, "none: texts would have no special tokens");
  return *result;
}

}  // namespace deberta
