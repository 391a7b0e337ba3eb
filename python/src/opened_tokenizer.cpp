// The encodings of a group are made without the GIL; their lists with it.
#include "python/src/opened_tokenizer.h"

#include <utility>

#include "base/refuse_argument.h"
#include "hub/module_list.h"
#include "pipeline/answer_json.h"
#include "python/src/opened.h"
#include "python/src/parameters.h"
#include "python/src/values.h"

namespace deberta::python {
namespace nb = nanobind;
namespace {

template <class Value>
nb::list list_of(const std::vector<Value>& values) {
  nb::list list;
  for (const Value value : values) list.append(static_cast<int64_t>(value));
  return list;
}

// What the verb prints, and what it does not.
nb::tuple to_tuple(const Encoding& encoding, const TextInput& input, OffsetUnit unit, const Tokenizer& tokenizer,
                   bool adds_special) {
  JsonObject printed = to_json(encoding, input.text, input.pair, unit, tokenizer);
  add_marks({encoding.cut_tokens, is_of_empty_text(input, encoding.size(), adds_special ? 2 : 0)}, printed);
  nb::dict more;
  more["type_ids"] = list_of(encoding.type_ids);
  more["words"] = list_of(encoding.words);
  more["special"] = list_of(encoding.is_special);
  return nb::make_tuple(to_python(printed), more);
}

}  // namespace

OpenedTokenizer::OpenedTokenizer(const std::string& path, const std::string& kind) {
  if (kind != "slow" && kind != "fast") refuse_argument("kind", "expected slow or fast, got " + quote_begin(kind));
  {
    const nb::gil_scoped_release unlocked;
    const std::string folder = transformer_folder(path);
    tokenizer_ = std::make_shared<const Tokenizer>(
        Tokenizer::load(folder, kind == "fast" ? TokenizerKind::kFast : TokenizerKind::kSlow));
    limits_ = read_text_limits(folder);
  }
  pass_warnings();
}

nb::list OpenedTokenizer::encode(const Inputs& inputs, JsonObject given) const {
  const Parameters parameters("tokenize", std::move(given));
  if (parameters.find("skip_special_tokens") != nullptr)
    refuse_argument("skip_special_tokens", "expected none, since it is of decode(); did you mean add_special_tokens?");
  const OffsetUnit unit = *parameters.choice<OffsetUnit>("offsets");
  EncodeOptions options{.add_special_tokens = parameters.flag("add_special_tokens")};
  const bool is_given = parameters.find("max_tokens") != nullptr;
  const auto stated = limits_.length_for(options.max_tokens);
  if (is_given || stated) {
    options.max_tokens = is_given ? *parameters.whole("max_tokens") : std::max(*stated, parameters.least("max_tokens"));
    options.truncate = Truncate::kRight;
  }
  nb::list encoded;
  for_each_group(
      inputs.size(), [&](size_t row) { return inputs.bytes(row); },
      [&](size_t first, size_t count) {
        std::vector<Encoding> encodings;
        {
          const nb::gil_scoped_release unlocked;
          for (size_t row = first; row < first + count; ++row) {
            if (const std::optional<Error> fault = inputs.fault(row)) throw Error(*fault);
            const TextInput input = inputs.view(row);
            encodings.push_back(input.pair ? tokenizer_->encode_pair(input.text, *input.pair, options)
                                           : tokenizer_->encode(input.text, options));
          }
        }
        for (size_t i = 0; i < count; ++i)
          encoded.append(to_tuple(encodings[i], inputs.view(first + i), unit, *tokenizer_, options.add_special_tokens));
      });
  return encoded;
}

}  // namespace deberta::python
