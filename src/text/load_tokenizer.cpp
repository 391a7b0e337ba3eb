// Builds the text model for the chosen files, then its special tokens, lower-casing and limits.
#include "text/load_tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "deberta/error.h"
#include "text/bpe/bpe_encoder.h"
#include "text/bpe/bpe_text_model.h"
#include "text/hf_json/json_fields.h"
#include "text/hf_json/json_text_model.h"
#include "text/hf_json/tokenizer_json.h"
#include "text/spm/unigram_text_model.h"
#include "text/word_piece/word_piece_text_model.h"

namespace deberta {
namespace {

constexpr std::string_view kJsonName = "/tokenizer.json";

class Loader {
 public:
  Loader(const std::string& folder, TokenizerFiles files) : folder_(folder), files_(std::move(files)) {}

  LoadedTokenizer load() {
    if (files_.source == TokenizerSource::kJson) document();  // reports its problems before the files beside it do
    settings_ = read_tokenizer_settings(folder_, files_.of_class, [&] { return tokens_beside(); });
    LoadedTokenizer loaded;
    FastParts fast;
    std::unique_ptr<TextModel> model = make_model(fast);
    loaded.is_fast = files_.is_fast;
    loaded.source = files_.source;
    loaded.config = files_.is_fast ? make_fast_config(settings_, files_, *model, fast, folder_)
                                   : make_slow_config(settings_, *model, folder_);
    model->set_tokens(loaded.config.added);
    loaded.model = std::move(model);
    loaded.around = fast.around;
    loaded.around.cls = loaded.config.special.cls;
    loaded.around.sep = loaded.config.special.sep;
    lower_for_sentences(loaded.config);
    check_template(loaded);
    loaded.settings = std::move(settings_.config);
    return loaded;
  }

 private:
  void check_template(const LoadedTokenizer& loaded) const {
    for (const int32_t id : {loaded.around.cls, loaded.around.sep}) {
      const auto is_it = [&](const AddedToken& token) { return token.id == id; };
      const bool is_known = (id >= 0 && static_cast<size_t>(id) < loaded.model->size()) ||
                            std::any_of(loaded.config.added.begin(), loaded.config.added.end(), is_it);
      if (!is_known)
        refuse_tokenizer_file(folder_, fmt::format("[CLS] and [SEP]: expected ids of the vocabulary, got {}", id));
    }
  }

  const TokenizerDocument& document() {
    if (!document_) document_ = read_tokenizer_json(folder_ + std::string(kJsonName));
    return *document_;
  }

  // The library reads those of a tokenizer.json for its other tokenizers too.
  std::vector<AddedToken> tokens_beside() {
    if (document_) return document_->added;
    if (!is_regular_file(folder_ + std::string(kJsonName))) return {};
    try {
      return document().added;
    } catch (const Error& error) {
      warn(fmt::format("{}; its tokens are not used", error.what()));
      return {};
    }
  }

  std::unique_ptr<TextModel> make_model(FastParts& fast) {
    switch (files_.source) {
      case TokenizerSource::kSpm:
        return make_spm(fast);
      case TokenizerSource::kBpe:
        return make_bpe(load_bpe_model(files_.path));
      case TokenizerSource::kBpeEncoder:
        return make_bpe(load_bpe_encoder(files_.path));
      case TokenizerSource::kVocabTxt:
        return make_word_piece(load_vocab_txt(files_.path));
      case TokenizerSource::kJson:
        break;
    }
    return make_json(fast);
  }

  // A file that SentencePiece cannot read is no obstacle: the library's fast tokenizer does not open it.
  std::unique_ptr<TextModel> make_spm(FastParts& fast) {
    std::optional<SpmModel> model;
    try {
      model = load_spm_model(files_.path);
    } catch (const Error& error) {
      const bool is_readable = error.code() != ErrorCode::kTokenizerFile;
      if (is_readable || !is_regular_file(folder_ + std::string(kJsonName))) throw;
      warn(fmt::format("{}; tokenizer.json is used instead", error.what()));
    }
    if (!model) {
      files_.source = TokenizerSource::kJson;
      files_.is_fast = true;
      return make_json(fast);
    }
    if (!files_.is_fast) return make_unigram_text_model(std::move(*model), files_.path);
    ConvertedUnigram converted = convert_spm_model(std::move(*model), settings_.is_truthy("do_lower_case", false),
                                                   settings_.is_truthy("split_by_punct", false), files_.path);
    fast.tokens = std::move(converted.tokens);
    return std::move(converted.model);
  }

  std::unique_ptr<TextModel> make_bpe(BpeModel model) {
    if (files_.is_fast) check_complete(model, files_.path);
    return make_bpe_text_model(std::move(model));
  }

  std::unique_ptr<TextModel> make_word_piece(WordPieceModel model) {
    if (files_.is_fast) return make_json_word_piece(convert_vocab_txt(std::move(model), settings_), files_.path);
    return make_slow_word_piece(std::move(model), basic_words(settings_));
  }

  std::unique_ptr<TextModel> make_json(FastParts& fast) {
    TokenizerJson json = make_tokenizer_json(document(), files_.of_class, settings_);
    const TokenTemplate& around = fast.around = json.around;
    fast.tokens = document().added;
    fast.adds_prefix_space = json.adds_prefix_space;
    fast.may_change_prefix = json.may_change_prefix;
    if (around.doubles_separator || around.second_type != 1) {
      warn(fmt::format("{}: pairs follow its post_processor: {}, {}", document().path,
                       around.doubles_separator ? "two [SEP] between" : "one [SEP] between",
                       around.second_type == 1 ? "types 0 and 1" : "type 0 alone"));
    }
    document_.reset();
    return std::move(json.model);
  }

  // sentence-transformers lower-cases texts before any kind of tokenizer sees them.
  void lower_for_sentences(TokenizerConfig& config) const {
    const std::string path = folder_ + "/sentence_bert_config.json";
    if (!is_regular_file(path)) return;
    const Json settings = load_python_json(path, {}, JsonWarnings::kSilent);  // the sentence modules say what is wrong
    const Json* lowers = settings.find("do_lower_case");
    if (lowers != nullptr && lowers->is_truthy()) config.do_lower_case = true;
  }

  const std::string& folder_;
  TokenizerFiles files_;
  std::optional<TokenizerDocument> document_;
  TokenizerSettings settings_;
};

}  // namespace

size_t LoadedTokenizer::size() const {
  size_t size = model->size();
  for (const AddedToken& token : config.added) size = std::max(size, static_cast<size_t>(token.id) + 1);
  return size;
}

LoadedTokenizer load_tokenizer(const std::string& folder, TokenizerKind kind) {
  return Loader(folder, choose_tokenizer_files(folder, kind)).load();
}

}  // namespace deberta
