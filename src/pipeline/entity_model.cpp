// In the order of the library: configuration, base model, tokenizer, marks, weights.
#include "pipeline/entity_model.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "checkpoint/folder_kind.h"
#include "config/extraction_config.h"
#include "config/model_config.h"
#include "deberta/error.h"
#include "deberta/find_model.h"
#include "hub/module_list.h"

namespace deberta {
namespace {

constexpr std::string_view kOtherMark = "[FLERT]";  // the library adds it before its marks, and uses it nowhere

// As the library decides it.
bool has_tokenizer(const std::string& folder) {
  return is_regular_file(folder + "/tokenizer_config.json");
}

// The folder of the base model, for `what`, which the model's folder lacks.
std::string base_folder(const std::string& folder, const ExtractionConfig& extraction, std::string_view what) {
  const std::string where = fmt::format("{}/{}", folder, kExtractionFile);
  if (extraction.model_name.empty())
    throw Error(ErrorCode::kFileNotFound, where,
                fmt::format("expected {} in the folder, or a model_name that has them, got neither", what));
  try {
    return transformer_folder(find_model(extraction.model_name, find_places(current_environment())));
  } catch (const Error& error) {
    throw Error(ErrorCode::kFileNotFound, where,
                fmt::format("expected {} in the folder, or those of the base model {}: {}", what, extraction.model_name,
                            error.what()));
  }
}

struct EncoderDocument {
  Json document;
  std::string where;
};

// Of a file that has none, the base model's. Without a type it is that of the library's default.
EncoderDocument encoder_document(const std::string& folder, const ExtractionFile& file) {
  EncoderDocument encoder;
  if (file.encoder) {
    encoder = {*file.encoder, fmt::format("{}/{}: encoder_config", folder, kExtractionFile)};
  } else {
    encoder.where = base_folder(folder, file.extraction, "the encoder's configuration") + "/config.json";
    encoder.document = load_python_json(encoder.where);
  }
  if (encoder.document.is_object() && encoder.document.find("model_type") == nullptr)
    encoder.document.as_object().emplace_back("model_type", "deberta-v2");
  return encoder;
}

struct Vocabulary {
  EntityMarks marks;
  int64_t size = 0;
};

// Where the file does not say which id the mark of labels has, the library gives the ids behind the tokenizer's to the
// marks that it lacks.
Vocabulary add_marks(const ExtractionConfig& extraction, const Tokenizer& tokenizer) {
  auto next = static_cast<int32_t>(tokenizer.size());
  const auto add = [&](std::string_view mark) {
    const std::optional<int32_t> id = tokenizer.id_of(mark);
    return id ? *id : next++;
  };
  add(kOtherMark);
  Vocabulary vocabulary;
  vocabulary.marks.label = add(extraction.ent_token);
  vocabulary.marks.text = add(extraction.sep_token);
  vocabulary.size = next;
  return vocabulary;
}

Vocabulary stated_marks(const ExtractionConfig& extraction, const Tokenizer& tokenizer, const std::string& folder) {
  const std::string where = fmt::format("{}/{}", folder, kExtractionFile);
  const EntityMarks marks = marks_in(tokenizer, extraction, folder);
  if (marks.label == extraction.class_token_index) return {marks, extraction.vocab_size};
  throw Error(ErrorCode::kConfig, where,
              fmt::format("class_token_index: expected {}, the id of {} in the tokenizer, got {}", marks.label,
                          quote_json(extraction.ent_token), extraction.class_token_index));
}

// The word table of the encoder; that of a base model is smaller, or larger, than with the marks.
Vocabulary read_vocabulary(const ExtractionFile& file, const Tokenizer& tokenizer, const std::string& folder,
                           int64_t encoder_size) {
  const ExtractionConfig& extraction = file.extraction;
  if (extraction.class_token_index < 0 || extraction.vocab_size < 0) return add_marks(extraction, tokenizer);
  Vocabulary vocabulary = stated_marks(extraction, tokenizer, folder);
  if (file.encoder) vocabulary.size = encoder_size;
  return vocabulary;
}

void check_marks(const Vocabulary& vocabulary, const std::string& folder) {
  for (const int32_t id : {vocabulary.marks.label, vocabulary.marks.text}) {
    if (id < vocabulary.size) continue;
    throw Error(ErrorCode::kConfig, fmt::format("{}/{}", folder, kExtractionFile),
                fmt::format("expected marks below vocab_size {}, got the id {}", vocabulary.size, id));
  }
}

}  // namespace

EntityMarks marks_in(const Tokenizer& tokenizer, const ExtractionConfig& extraction, const std::string& folder) {
  const auto id_of = [&](const std::string& mark) {
    const std::optional<int32_t> id = tokenizer.id_of(mark);
    if (id) return *id;
    throw Error(ErrorCode::kConfig, fmt::format("{}/{}", folder, kExtractionFile),
                fmt::format("class_token_index: expected -1, or {} in the tokenizer, got {}", quote_json(mark),
                            extraction.class_token_index));
  };
  return {id_of(extraction.ent_token), id_of(extraction.sep_token)};
}

EntityModelParts open_entity_parts(const std::string& folder) {
  const ExtractionFile file = load_extraction_config(folder);
  const EncoderDocument encoder = encoder_document(folder, file);
  ModelConfig config = parse_model_config(encoder.document, encoder.where, ConfigRules::kHf);
  Tokenizer tokenizer = Tokenizer::load(
      has_tokenizer(folder) ? folder : base_folder(folder, file.extraction, "a tokenizer"), TokenizerKind::kFast);
  const Vocabulary vocabulary = read_vocabulary(file, tokenizer, folder, config.vocab_size);
  check_marks(vocabulary, folder);
  config.vocab_size = vocabulary.size;
  config.extraction = file.extraction;
  return {std::move(config), std::move(tokenizer), vocabulary.marks};
}

ModelConfig load_folder_config(const std::string& folder, ConfigRules rules) {
  return is_extraction_folder(folder) ? open_entity_parts(folder).config
                                      : load_model_config(folder + "/config.json", rules);
}

FolderParts open_folder_parts(const std::string& folder) {
  if (!is_extraction_folder(folder)) return {load_model_config(folder + "/config.json"), Tokenizer::load(folder)};
  EntityModelParts parts = open_entity_parts(folder);
  return {std::move(parts.config), std::move(parts.tokenizer)};
}

Pipeline open_entity_model(const std::string& folder, const ModelOptions& options, const OpenOptions& open_options) {
  check_folder_kind(folder, FolderUse::kWeights);
  check_folder_kind(folder, FolderUse::kTokenizer);
  EntityModelParts parts = open_entity_parts(folder);
  Model model = Model::load(Checkpoint::open(folder, open_options), parts.config, options);
  return {std::move(parts.config), std::move(parts.tokenizer), std::move(model), {}, parts.marks};
}

}  // namespace deberta
