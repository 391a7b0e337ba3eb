// The verb `tokenize`: text to ids, pieces and offsets; with --decode ids to text.
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor.h"
#include "cli/id_arrays.h"
#include "cli/verbs.h"
#include "deberta/error.h"
#include "deberta/tokenizer.h"
#include "decode/offset_units.h"
#include "pipeline/answer_json.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/output.h"
#include "program/row_loop.h"

namespace deberta::cli {
namespace {

Encoding encode_texts(const Tokenizer& tokenizer, const Row& row, const EncodeOptions& encode) {
  return row.pair ? tokenizer.encode_pair(row.text, *row.pair, encode) : tokenizer.encode(row.text, encode);
}

// An object or lines, whichever is written.
program::RowAnswer encode_row(const Tokenizer& tokenizer, const EncodeOptions& encode, OffsetUnit unit, bool is_object,
                              const Row& row) {
  const Encoding encoding = encode_texts(tokenizer, row, encode);
  program::RowAnswer answer;
  answer.tokens = encoding.size();
  answer.cut_tokens = encoding.cut_tokens;
  if (!encode.add_special_tokens) answer.tokens_of_nothing = 0;
  if (is_object) {
    answer.answer.object = to_json(encoding, row.text, row.pair, unit, tokenizer);
    return answer;
  }
  const OffsetUnits first(unit, row.text), second(unit, row.pair.value_or(""));
  for (size_t i = 0; i < encoding.size(); ++i) {
    const Offset span = (i < encoding.second_begin ? first : second).convert(encoding.chars[i], encoding.bytes[i]);
    answer.answer.lines.push_back({program::cell(static_cast<uint64_t>(encoding.ids[i])),
                                   std::string(tokenizer.piece(encoding.ids[i])), program::cell(uint64_t{span.begin}),
                                   program::cell(uint64_t{span.end})});
  }
  return answer;
}

program::RowAnswer decode_row(const Tokenizer& tokenizer, bool skip_special, const Row& row) {
  std::vector<int32_t> ids;
  for (size_t at = 0; at < row.text.size();) {
    const size_t end = std::min(row.text.find_first_of(" ,\t", at), row.text.size());
    if (end > at) {
      const auto id = parse_number<int32_t>(std::string_view(row.text).substr(at, end - at));
      if (!id)
        throw Error(ErrorCode::kInput, row.where,
                    fmt::format("expected ids, got \"{}\"", row.text.substr(at, end - at)));
      ids.push_back(*id);
    }
    at = end + 1;
  }
  const std::string text = tokenizer.decode(ids, skip_special);
  return {{{{"text", text}}, {{text}}}, ids.size(), 0, 0};
}

// All rows in arrays. A bad row is an error: an array has no place for it.
int write_arrays(const TokenizeVerb& options, const program::RowReading& reading, const Tokenizer& tokenizer,
                 const EncodeOptions& encode) {
  if (options.decode)
    throw Error(ErrorCode::kUsage, "--decode",
                fmt::format("expected answers as text, got -o {}", *options.output.file));
  const std::string& path = *options.output.file;
  program::refuse_skipping(options);
  std::vector<Encoding> encodings;
  size_t cut = 0;
  const auto take = [&](std::span<const Row> rows) {
    for (const Row& row : rows) cut += encodings.emplace_back(encode_texts(tokenizer, row, encode)).cut_tokens > 0;
  };
  const int code = program::collect_rows(reading, options.progress, take, {});
  if (code != 0) program::leave_unwritten(path);
  program::note_cut_rows(options.encoding, cut, encodings.size(), encode.max_tokens);
  const IdArrays arrays = to_arrays(encodings, tokenizer.special().pad);
  const std::vector<TensorView> tensors = arrays.tensors();
  program::write_output(path, [&](FileWriter& out) {
    write_safetensors(out, path, to_write(tensors), {{"program", "deberta tokenize"}});
  });
  for (const TensorView& tensor : tensors) program::note(fmt::format("{} {}", tensor.name, to_string(tensor.shape)));
  return 0;
}

}  // namespace

int run(const TokenizeVerb& options) {
  const Tokenizer tokenizer = Tokenizer::load(program::tokenizer_path(options.model), options.tokenizer);
  EncodeOptions encode = program::encoding_rules(options.encoding).encode;
  encode.add_special_tokens = !options.no_special;
  const bool cuts = options.encoding.max_tokens.is_given() && !options.encoding.max_tokens.is_auto;
  if (cuts && encode.truncate == Truncate::kNone) encode.truncate = Truncate::kRight;
  program::RowReading reading = program::reading_of(options);
  if (options.pair) reading.shape = program::pair_shape();
  if (program::ending_of(options.output.file.value_or("")) == "safetensors")
    return write_arrays(options, reading, tokenizer, encode);
  const program::AnswerColumns columns =
      options.decode ? program::AnswerColumns{"text"} : program::AnswerColumns({"id", "piece", "start", "end"}, true);
  const Format format = program::format_of(options.output);
  const bool is_object = program::is_json(format);
  return program::run_rows(options, reading, columns, [&](std::span<const Row> rows) {
    std::vector<program::RowAnswer> answers;
    for (const Row& row : rows) {
      answers.push_back(options.decode ? decode_row(tokenizer, options.no_special, row)
                                       : encode_row(tokenizer, encode, options.offsets, is_object, row));
    }
    return answers;
  });
}

}  // namespace deberta::cli
