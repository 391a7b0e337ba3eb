// Reads the pickled dictionary as plain values and turns GPT-2's ids into the model's pieces and merges.
#include "text/bpe/bpe_encoder.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "base/json.h"
#include "base/pickle_machine.h"
#include "base/torch_save.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "text/spm/spm_model.h"

namespace deberta {
namespace {

constexpr uint64_t kMaxEncoderBytes = kMaxSpmFileBytes;
constexpr std::array kGlobals = {
    PickleGlobal{"collections", "OrderedDict", PickleGlobal::Use::kOrderedDict, 0},
};
constexpr std::array<std::string_view, 4> kFirstSymbols = {"[PAD]", "[CLS]", "[SEP]", "[UNK]"};
constexpr std::string_view kLastSymbol = "[MASK]";

[[noreturn]] void refuse_encoder(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kTokenizerFile, where, message);
}

std::string quote_short(std::string_view text) {
  return quote_json(replace_invalid_utf8(text.substr(0, 80)));
}

// A torch.save container has no storages beside the object; a bare pickle ends with it.
Pickle read_object(Bytes file, const std::string& path) {
  if (is_torch_save(file)) {
    TorchSave save = read_torch_save(file, path, kGlobals);
    if (!save.object.storages().empty() || !save.keys.items(save.keys.root()).empty() || !save.rest.empty())
      refuse_encoder(path, "expected a vocabulary, got tensors");
    return std::move(save.object);
  }
  Pickle object = parse_pickle(file, path, kGlobals);
  if (object.size_bytes() != file.size())
    refuse_encoder(path,
                   fmt::format("expected to end with STOP, got {} more bytes", file.size() - object.size_bytes()));
  return object;
}

class EncoderReader {
 public:
  EncoderReader(const Pickle& object, const std::string& path) : object_(object), path_(path) {}

  // GPT-2 ids and their pieces.
  std::unordered_map<int64_t, std::string_view> read_encoder() const {
    std::unordered_map<int64_t, std::string_view> pieces;
    const auto items = dict_items(member("encoder"), "encoder");
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      const std::string_view piece = text(items[i], "encoder");
      if (items[i + 1].kind != PickleKind::kInteger)
        fail("encoder",
             fmt::format("{}: expected an integer, got {}", quote_short(piece), to_string(items[i + 1].kind)));
      if (!pieces.emplace(items[i + 1].number, piece).second)
        fail("encoder", fmt::format("id {} appears twice", items[i + 1].number));
    }
    return pieces;
  }

  BpeMergeTexts read_merges() const {
    BpeMergeTexts merges;
    for (const PickleValue& item : list_items("vocab")) {
      const auto pair = pair_of(item, "vocab");
      merges.emplace_back(text(pair[0], "vocab"), text(pair[1], "vocab"));
    }
    return merges;
  }

  std::vector<std::string_view> read_symbols() const {
    std::vector<std::string_view> symbols;
    for (const PickleValue& item : list_items("dict_map")) {
      const auto pair = pair_of(item, "dict_map");
      if (pair[1].kind != PickleKind::kInteger) fail("dict_map", "expected (symbol, count)");
      symbols.push_back(text(pair[0], "dict_map"));
    }
    return symbols;
  }

 private:
  [[noreturn]] void fail(std::string_view key, const std::string& message) const {
    refuse_encoder(path_, fmt::format("{}: {}", key, message));
  }
  std::span<const PickleValue> dict_items(const PickleValue& value, std::string_view key) const {
    if (value.kind != PickleKind::kDict && value.kind != PickleKind::kOrderedDict)
      fail(key, fmt::format("expected a dict, got {}", to_string(value.kind)));
    return object_.items(value);
  }
  const PickleValue& member(std::string_view key) const {
    const auto items = dict_items(object_.root(), "the object");
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (items[i].kind == PickleKind::kString && items[i].text == key) return items[i + 1];
    }
    fail(key, "expected in the dict, got none; is this a bpe_encoder.bin");
  }
  std::span<const PickleValue> list_items(std::string_view key) const {
    const PickleValue& value = member(key);
    if (value.kind != PickleKind::kList) fail(key, fmt::format("expected a list, got {}", to_string(value.kind)));
    const auto items = object_.items(value);
    if (items.size() > kMaxPieces) fail(key, fmt::format("expected at most {}, got {}", kMaxPieces, items.size()));
    return items;
  }
  std::span<const PickleValue> pair_of(const PickleValue& value, std::string_view key) const {
    const bool is_sequence = value.kind == PickleKind::kTuple || value.kind == PickleKind::kList;
    const auto items = is_sequence ? object_.items(value) : std::span<const PickleValue>();
    if (items.size() != 2) fail(key, fmt::format("expected pairs, got {}", to_string(value.kind)));
    return items;
  }
  std::string_view text(const PickleValue& value, std::string_view key) const {
    if (value.kind != PickleKind::kString) fail(key, fmt::format("expected text, got {}", to_string(value.kind)));
    if (value.text.empty() || value.text.size() > kMaxPieceBytes || !is_valid_utf8(value.text))
      fail(key, fmt::format("expected 1..{} bytes of UTF-8, got {}", kMaxPieceBytes, quote_short(value.text)));
    return value.text;
  }

  const Pickle& object_;
  const std::string& path_;
};

// A symbol that is not a GPT-2 id stands for itself: padding of the dictionary that no text contains.
std::string piece_of(std::string_view symbol, const std::unordered_map<int64_t, std::string_view>& encoder) {
  const auto id = parse_number<int64_t>(symbol);
  const auto entry = id ? encoder.find(*id) : encoder.end();
  return std::string(entry == encoder.end() ? symbol : entry->second);
}

// A symbol that appears again keeps its first id.
std::vector<std::string> make_pieces(const std::vector<std::string_view>& symbols,
                                     const std::unordered_map<int64_t, std::string_view>& encoder) {
  std::vector<std::string> pieces(kFirstSymbols.begin(), kFirstSymbols.end());
  std::unordered_set<std::string_view> seen(kFirstSymbols.begin(), kFirstSymbols.end());
  for (const std::string_view symbol : symbols) {
    if (seen.insert(symbol).second) pieces.push_back(piece_of(symbol, encoder));
  }
  if (seen.insert(kLastSymbol).second) pieces.emplace_back(kLastSymbol);
  return pieces;
}

}  // namespace

BpeModel load_bpe_encoder(const std::string& path) {
  const std::string file = read_file(path, kMaxEncoderBytes);
  const Pickle object = read_object(to_bytes(file), path);
  const EncoderReader reader(object, path);
  const std::unordered_map<int64_t, std::string_view> encoder = reader.read_encoder();
  std::vector<std::string> pieces = make_pieces(reader.read_symbols(), encoder);
  if (pieces.size() > kMaxPieces)
    refuse_encoder(path, fmt::format("expected at most {} pieces, got {}", kMaxPieces, pieces.size()));
  return make_bpe_model(std::move(pieces), path + ": dict_map", reader.read_merges(), path + ": vocab");
}

}  // namespace deberta
