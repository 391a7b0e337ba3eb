// Compares two tokenizers piece by piece, and lists for each id the row that it begins with.
#include "train/step/vocabulary.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <optional>
#include <system_error>
#include <utility>

#include "base/json.h"
#include "config/config_writer.h"
#include "config/model_config.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

struct SpecialRole {
  const char* name;
  int32_t SpecialIds::*id;
};
constexpr std::array kSpecialRoles = {SpecialRole{"[PAD]", &SpecialIds::pad}, SpecialRole{"[CLS]", &SpecialIds::cls},
                                      SpecialRole{"[SEP]", &SpecialIds::sep}, SpecialRole{"[UNK]", &SpecialIds::unk},
                                      SpecialRole{"[MASK]", &SpecialIds::mask}};

// ---- the same pieces

// Nothing beyond the last id, and in a hole.
std::string_view piece_of(const Tokenizer& tokenizer, size_t id) {
  return id < tokenizer.size() ? tokenizer.piece(static_cast<int32_t>(id)) : std::string_view();
}

std::string quoted(std::string_view piece) {
  return piece.empty() ? "none" : quote_json(piece);
}

// What differs first; empty: nothing. A role that one of the two does not have is no difference.
std::string first_difference(const Tokenizer& known, const std::string& known_folder, const Tokenizer& other) {
  const size_t most = std::max(known.size(), other.size());
  std::optional<size_t> first;
  size_t same = 0;
  for (size_t id = 0; id < most; ++id) {
    const bool is_same = piece_of(known, id) == piece_of(other, id);
    same += is_same;
    if (!is_same && !first) first = id;
  }
  if (first) {
    return "piece " + std::to_string(*first) + ": expected " + quoted(piece_of(known, *first)) +
           " as in the tokenizer beside the weights in " + known_folder + ", got " + quoted(piece_of(other, *first)) +
           " (" + std::to_string(other.size()) + " pieces here, " + std::to_string(known.size()) + " there, " +
           std::to_string(same) + " of them equal)";
  }
  for (const SpecialRole& role : kSpecialRoles) {
    const int32_t expected = known.special().*role.id, got = other.special().*role.id;
    if (expected == got || expected < 0 || got < 0) continue;
    return std::string(role.name) + ": expected id " + std::to_string(expected) +
           " as in the tokenizer beside the weights in " + known_folder + ", got " + std::to_string(got);
  }
  return {};
}

void check_same_pieces(const Tokenizer& known, const std::string& known_folder, const Tokenizer& other,
                       const std::string& folder, std::vector<Remedy> remedies) {
  std::string difference = first_difference(known, known_folder, other);
  if (difference.empty()) return;
  throw Error(ErrorCode::kTokenId,
              {{.where = folder, .message = std::move(difference), .remedies = std::move(remedies)}});
}

bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code none;
  return a == b || std::filesystem::equivalent(a, b, none);
}

// The tokenizer that the weights know; nothing where there is none that can be read here.
std::optional<Tokenizer> tokenizer_beside(const VocabularyOfRun& run,
                                          const std::function<void(const std::string&)>& note) {
  try {
    return Tokenizer::load(run.weights_folder, run.tokenizer.kind);
  } catch (const Error& error) {
    const bool is_there = error.code() != ErrorCode::kFileNotFound && error.code() != ErrorCode::kUnsupported;
    if (is_there || run.has_new_embeddings) throw;
    note("the pieces of " + run.tokenizer.folder + " are assumed to be those of the weights in " + run.weights_folder +
         ", since no tokenizer can be read there: " + error.what());
    return std::nullopt;
  }
}

// ---- rows

// By its role, else by its text; -1: the known tokenizer has it not.
int64_t row_of(const Tokenizer& known, const Tokenizer& tokenizer, int32_t id) {
  for (const SpecialRole& role : kSpecialRoles) {
    if (tokenizer.special().*role.id == id && known.special().*role.id >= 0) return known.special().*role.id;
  }
  const std::string_view piece = tokenizer.piece(id);
  return piece.empty() ? -1 : known.id_of(piece).value_or(-1);
}

std::vector<int64_t> rows_by_pieces(const Tokenizer& known, const Tokenizer& tokenizer) {
  std::vector<int64_t> from(tokenizer.size());
  for (size_t id = 0; id < from.size(); ++id) from[id] = row_of(known, tokenizer, static_cast<int32_t>(id));
  return from;
}

// Rows in place, but for the ids that the run adds.
std::vector<int64_t> rows_in_place(size_t base, size_t with_added) {
  std::vector<int64_t> from(with_added, -1);
  std::iota(from.begin(), from.begin() + static_cast<ptrdiff_t>(base), 0);
  return from;
}

// The rows of the pieces that its text had before, as far as they are trained.
std::vector<WordRows::Mean> means_of(const Tokenizer& base, const Tokenizer& tokenizer,
                                     const std::vector<int64_t>& from) {
  std::vector<WordRows::Mean> means;
  for (size_t id = base.size(); id < tokenizer.size(); ++id) {
    if (from[id] >= 0) continue;
    WordRows::Mean mean{.id = static_cast<int32_t>(id)};
    for (const int32_t piece : base.encode(tokenizer.piece(mean.id), {.add_special_tokens = false}).ids) {
      if (piece != base.special().unk && from[static_cast<size_t>(piece)] >= 0) mean.of.push_back(piece);
    }
    if (!mean.of.empty()) means.push_back(std::move(mean));
  }
  return means;
}

void note_new_embeddings(const VocabularyOfRun& run, const std::vector<int64_t>& from,
                         const std::function<void(const std::string&)>& note) {
  const auto fresh = static_cast<size_t>(std::ranges::count(from, -1));
  note("new word embeddings for the " + std::to_string(from.size()) + " pieces of " + run.tokenizer.folder + ": " +
       std::to_string(from.size() - fresh) + " rows are copied from " + run.weights_folder + ", " +
       std::to_string(fresh) + " are new");
}

}  // namespace

ModelConfig with_vocabulary(const ModelConfig& config, const Tokenizer& tokenizer, bool has_new_embeddings) {
  const auto ids = static_cast<int64_t>(tokenizer.size());
  ConfigDocument document(config);
  const int64_t size = has_new_embeddings ? ids : std::max(config.vocab_size, ids);
  if (size != config.vocab_size) document.set("vocab_size", size);
  if (has_new_embeddings && config.pad_token_id != tokenizer.special().pad)
    document.set("pad_token_id", static_cast<int64_t>(tokenizer.special().pad));
  if (document.changes().empty()) return config;
  ModelConfig changed = parse_model_config(document.json(), "config of the model");
  changed.layout = config.layout;
  return changed;
}

WordRows word_rows(const VocabularyOfRun& run, const Tokenizer& tokenizer,
                   const std::function<void(const std::string&)>& note) {
  const bool is_own = is_same_folder(run.weights_folder, run.tokenizer.folder);
  if (is_own && run.tokenizer.added.empty() && !run.has_new_embeddings) return {};
  const Tokenizer base = run.tokenizer.load_base();
  const std::optional<Tokenizer> other = is_own ? std::nullopt : tokenizer_beside(run, note);
  const Tokenizer& known = other ? *other : base;
  if (!run.has_new_embeddings) {
    check_same_pieces(
        known, run.weights_folder, base, run.tokenizer.folder,
        {{"use the tokenizer beside the weights"}, {"begin with new word embeddings: {}", "new_embeddings"}});
    if (tokenizer.size() == base.size()) return {};
  }
  WordRows rows{.from = run.has_new_embeddings ? rows_by_pieces(known, tokenizer)
                                               : rows_in_place(base.size(), tokenizer.size())};
  rows.means = means_of(base, tokenizer, rows.from);
  if (run.has_new_embeddings) note_new_embeddings(run, rows.from, note);
  return rows;
}

std::vector<std::string> describe_added(const RunTokenizer& run, const Tokenizer& tokenizer, const WordRows& rows) {
  std::vector<std::string> lines;
  if (run.added.empty()) return lines;
  const size_t base = run.load_base().size();
  for (const std::string& token : run.added) {
    const int32_t id = tokenizer.id_of(token).value();
    std::string line = "token " + quote_json(token) + ": " + std::to_string(id);
    const auto mean = std::ranges::find(rows.means, id, &WordRows::Mean::id);
    if (static_cast<size_t>(id) < base)
      line += ", which the tokenizer already has";
    else if (!rows.is_in_place() && rows.from[static_cast<size_t>(id)] >= 0)
      line += ", added with the row that the model has for it";
    else if (mean == rows.means.end())
      line += ", added with a new row";
    else
      line += ", added with the mean of the rows of";
    for (size_t i = 0; mean != rows.means.end() && i < mean->of.size(); ++i)
      line += " " + std::string(tokenizer.piece(mean->of[i]));
    lines.push_back(std::move(line));
  }
  return lines;
}

void check_pieces_of_checkpoint(const std::string& checkpoint, const RunTokenizer& run) {
  check_same_pieces(Tokenizer::load(checkpoint, run.kind), checkpoint, run.load(), run.folder,
                    {{"give the tokenizer that the run began with"}});
}

void check_pieces_of_teacher(const std::string& teacher, const RunTokenizer& run) {
  check_same_pieces(Tokenizer::load(teacher, run.kind), teacher, run.load(), run.folder,
                    {{"let such a teacher label texts, and train on its labels"}});
}

}  // namespace deberta::train
