// Checks ids and merges of the vocabulary, and builds the table from pairs of ids to their rank.
#include "text/bpe/bpe_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/file.h"
#include "base/log.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "text/bpe/byte_alphabet.h"
#include "text/spm/spm_model.h"
#include "text/text_model.h"

namespace deberta {
namespace {

constexpr uint64_t kMaxModelBytes = kMaxSpmFileBytes;
constexpr size_t kMaxMerges = kMaxPieces;

[[noreturn]] void refuse_model(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kTokenizerFile, where, message);
}

size_t check_entry(const std::string& piece, const Json& id, const std::string& where) {
  if (piece.empty() || piece.size() > kMaxPieceBytes) {
    refuse_model(where, fmt::format("expected pieces of 1..{} bytes, got {}", kMaxPieceBytes, piece.size()));
  }
  if (!is_valid_utf8(piece)) refuse_model(where, "expected pieces without lone surrogates");
  if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= static_cast<int64_t>(kMaxPieces)) {
    refuse_model(where,
                 fmt::format("{}: expected an id in 0..{}, got {}", quote_json(piece), kMaxPieces - 1, id.describe()));
  }
  return static_cast<size_t>(id.as_integer());
}

void warn_of_holes(const std::vector<std::string>& pieces, const std::string& where) {
  const auto holes = std::count(pieces.begin(), pieces.end(), "");
  if (holes == 0) return;
  const auto hole = std::find(pieces.begin(), pieces.end(), "");
  warn(fmt::format("{}: {} of the ids 0..{} have no piece; the first is {}", where, holes, pieces.size() - 1,
                   hole - pieces.begin()));
}

int32_t find_part(const BpeModel& model, std::string_view text, size_t rank, const std::string& where) {
  const std::optional<int32_t> id = model.id_of(text);
  if (!id)
    refuse_model(where,
                 fmt::format("merge {}: expected a piece of the vocabulary, got {}", rank + 1, quote_json(text)));
  return *id;
}

BpeMerges make_merges(const BpeModel& model, const BpeMergeTexts& texts, const std::string& where) {
  if (texts.size() > kMaxMerges)
    refuse_model(where, fmt::format("expected at most {} merges, got {}", kMaxMerges, texts.size()));
  std::vector<BpeMerge> merges;
  merges.reserve(texts.size());
  std::unordered_set<uint64_t> seen;
  std::string result;
  for (const auto& [left, right] : texts) {
    BpeMerge merge{find_part(model, left, merges.size(), where), find_part(model, right, merges.size(), where), 0};
    result.assign(left).append(right);
    merge.result = find_part(model, result, merges.size(), where);
    const uint64_t key = static_cast<uint64_t>(merge.left) << 32 | static_cast<uint64_t>(merge.right);
    if (!seen.insert(key).second) {
      refuse_model(
          where, fmt::format("merge {}: {} {} appears twice", merges.size() + 1, quote_json(left), quote_json(right)));
    }
    merges.push_back(merge);
  }
  return BpeMerges(std::move(merges), model.pieces.size());
}

}  // namespace

std::optional<int32_t> BpeModel::id_of(std::string_view text) const {
  const auto entry = ids_by_text.find(text);
  if (entry == ids_by_text.end()) return std::nullopt;
  return entry->second;
}

std::vector<std::string> read_bpe_vocab(const Json& vocab, const std::string& where) {
  if (!vocab.is_object()) refuse_model(where, fmt::format("expected an object, got {}", vocab.describe()));
  if (vocab.as_object().empty()) refuse_model(where, "expected at least one piece, got none");
  size_t size = 0;
  for (const auto& [piece, id] : vocab.as_object()) size = std::max(size, check_entry(piece, id, where) + 1);
  std::vector<std::string> pieces(size);
  for (const auto& [piece, id] : vocab.as_object()) {
    std::string& slot = pieces[static_cast<size_t>(id.as_integer())];
    if (!slot.empty())
      refuse_model(where,
                   fmt::format("id {} appears twice: {}, {}", id.as_integer(), quote_json(slot), quote_json(piece)));
    slot = piece;
  }
  return pieces;
}

BpeModel make_bpe_model(std::vector<std::string> pieces, const std::string& vocab_where, const BpeMergeTexts& merges,
                        const std::string& merges_where) {
  BpeModel model;
  model.pieces = std::move(pieces);
  warn_of_holes(model.pieces, vocab_where);
  model.ids_by_text.reserve(model.pieces.size());
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const std::string& piece = model.pieces[id];
    if (!piece.empty() && !model.ids_by_text.emplace(piece, static_cast<int32_t>(id)).second)
      refuse_model(vocab_where, fmt::format("{} appears twice", quote_json(piece)));
  }
  for (size_t byte = 0; byte < model.byte_ids.size(); ++byte) {
    std::string symbol;
    append_utf8(symbol, to_alphabet(static_cast<uint8_t>(byte)));
    model.byte_ids[byte] = model.id_of(symbol).value_or(kUnknownToken);
  }
  model.merges = make_merges(model, merges, merges_where);
  return model;
}

BpeMergeTexts parse_merges(std::string_view text, const std::string& where) {
  if (!text.starts_with("#version")) refuse_model(where, "expected a first line that starts with #version, got none");
  BpeMergeTexts merges;
  size_t number = 0;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (number == 0) continue;
    const size_t space = line.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == line.size() || space != line.rfind(' ')) {
      refuse_model(where, fmt::format("line {}: expected two pieces separated by one space, got {}", number + 1,
                                      quote_json(line)));
    }
    merges.emplace_back(line.substr(0, space), line.substr(space + 1));
  }
  return merges;
}

BpeModel load_bpe_model(const std::string& folder) {
  const std::string vocab_path = folder + "/vocab.json";
  const std::string merges_path = folder + "/merges.txt";
  const JsonLimits limits{.max_bytes = kMaxModelBytes, .max_depth = 2, .max_nodes = kMaxPieces + 1};
  const Json vocab = load_python_json(vocab_path, limits);
  const std::string text = read_file(merges_path, kMaxModelBytes);
  // Not inside the call: when both files are wrong, the compiler must not choose which one is reported.
  const BpeMergeTexts merges = parse_merges(text, merges_path);
  std::vector<std::string> pieces = read_bpe_vocab(vocab, vocab_path);
  return make_bpe_model(std::move(pieces), vocab_path, merges, merges_path);
}

}  // namespace deberta
