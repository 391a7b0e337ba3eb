// From the options of verbs to the options of the rooms below.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "eval/entity_files.h"
#include "options/verb_options.h"

namespace deberta::program {

// A value of `serve -m`, NAME[,ALIAS...]=DIR or DIR: without names where a slash comes before the first comma or equals
// sign, as in a path that has such a sign itself.
struct NamedFolder {
  std::vector<std::string> names;
  std::string folder;
};
NamedFolder parse_named_folder(const std::string& value);

// The folder that `name` names, in any of the forms that -m takes. Throws what find_model throws,
// and kUsage for an empty name.
std::string model_root(const std::string& name);
// The folder in it that has config.json, weights and tokenizer: with sentence-transformers perhaps a subfolder.
// Throws kFolder for a folder of another kind.
std::string model_path(const std::string& name);
// The same folder when only the weights are needed, which may be those of a GLiNER model.
std::string weights_path(const std::string& name);
// The same folder when only the tokenizer is needed.
std::string tokenizer_path(const std::string& name);

OpenOptions open_options(const WeightSettings& model);
Precision precision_of(DtypeChoice dtype);
ConfigRules config_rules(const ModelSettings& model);
// What --compat says of a model's options.
ModelOptions compat_options(Compat compat);
ModelOptions model_options(const ModelSettings& model);
Pipeline open_model(const ModelSettings& model);

// Warns when a masked language model runs without the enhanced mask decoder although --emd does not ask for that.
void warn_of_plain_head(const ModelSettings& model, const Pipeline& pipeline);

// With --kernels check: what was found, on standard error.
void print_check_report(const Model& model);

EncodingRules encoding_rules(const EncodingSettings& encoding);
// The overlap of windows of this length: a quarter of one where it was not given and the default leaves no room.
size_t stride_of(const Setting<size_t>& stride, size_t max_tokens);

// Throws kUsage for scores of windows where `rules` make none.
WindowScores window_scores(const WindowSettings& windows, const EncodingRules& rules);

// Of NAME=LABEL texts. Throws kUsage for other texts and for two labels of one name.
LabelRenames label_renames(const std::vector<std::string>& items);

// Applies what the model's folder says about the length of texts, if below the default, and the side that is cut, where
// the user has not set them. A bad folder is left for the verb to refuse. Throws kTokenizerFile for a limit that leaves
// no room for a text.
void follow_folder_limits(EncodingSettings& encoding, const std::string& model_name);

}  // namespace deberta::program
