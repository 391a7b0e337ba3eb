// Options of verbs to the options of the rooms below.
#pragma once
#include <optional>
#include <string>

#include "deberta/pipeline.h"
#include "options/options.h"

namespace deberta::cli {

// The folder that --model or DEBERTA_MODEL names, else the built-in model's. Throws what find_model throws, and kUsage
// when nothing is given and nothing is built in.
std::string model_root(const Options& options);
// The folder in it that has config.json, weights and tokenizer: of sentence-transformers perhaps another.
// Throws kFolder for one of another kind.
std::string model_path(const Options& options);
// The same folder where the tokenizer alone is wanted.
std::string tokenizer_path(const Options& options);
// The folder of another model, named in any of the ways of -m. Throws what find_model throws.
std::string named_model_path(const std::string& name);

// --load, --no-crc.
OpenOptions open_options(const Options& options);
Precision precision_of(const Options& options);  // --dtype
// fp32, fp16 or bf16 of a file's values; nothing for another word.
std::optional<DType> dtype_of(const std::string& name);
ConfigRules config_rules(const Options& options);  // --compat
ModelOptions model_options(const Options& options);
TokenizerKind tokenizer_kind(const Options& options);  // --tokenizer
Pipeline open_model(const Options& options);
std::optional<ScoreFunction> chosen_function(const Options& options);  // --activation; none: auto

// Warns when a masked language model runs without the enhanced mask decoder and --emd does not ask for that.
void warn_of_plain_head(const Options& options, const Pipeline& pipeline);

// With --kernels check: what was found, on standard error.
void print_check_report(const Model& model);

// --max-tokens, --truncate, --stride, --max-text-bytes, --special-text, --spm-ties, --batch-tokens.
EncodingRules encoding_rules(const Options& options);

// What the model's folder says of the length of texts, and of the end that is cut, where the user says nothing else and
// it says less than the default. Never throws: a folder that is wrong is the verb's to refuse.
Options with_folder_limits(const Options& given);
Options with_text_limits(const Options& given);  // of embed too, whose sentence_bert_config.json comes first

}  // namespace deberta::cli
