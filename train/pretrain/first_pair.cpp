// Sizes the generator, fills both models from files or the seed, and checks the tables that they share.
#include "train/pretrain/first_pair.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <vector>

#include "base/json.h"
#include "base/log.h"
#include "base/refuse_argument.h"
#include "checkpoint/tensor.h"
#include "checkpoint/tensor_table.h"
#include "config/config_writer.h"
#include "config/model_config.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "heads/head_facts.h"
#include "train/model/parameters.h"
#include "train/step/generator_files.h"
#include "train/step/vocabulary.h"

namespace deberta::train {
namespace {

// Files have 11 bits: a difference of two of their tables is off by as much as the tables' numbers are.
constexpr double kDifferenceTolerance = 1e-3;  // relative to the table's largest number

// ---- forms

// The same as a masked language model of so many layers.
ModelConfig with_layers(const ModelConfig& config, int64_t layers) {
  ConfigDocument document(config);
  document.set("num_hidden_layers", layers);
  JsonArray names;
  for (const std::string& name : architectures_of(config, facts_of(Head::kMaskedLm), config.layout))
    names.emplace_back(name);
  document.set("architectures", names);
  ModelConfig changed = parse_model_config(document.json(), "config of the generator");
  changed.layout = config.layout;
  return changed;
}

ModelForm generator_of_folder(const ModelStart& start, const std::string& folder, size_t longest,
                              const Tokenizer& tokenizer) {
  ModelForm form{.config = open_generator(folder).config, .head = Head::kMaskedLm};
  if (start.changes_vocabulary()) form.config = with_vocabulary(form.config, tokenizer, start.has_new_embeddings);
  if (start.decoder_passes) form.config.mask_decoder_passes = *start.decoder_passes;
  if (form.config.max_position_embeddings < static_cast<int64_t>(longest)) {
    refuse_argument("max_tokens", "expected at most max_position_embeddings = " +
                                      std::to_string(form.config.max_position_embeddings) + " of the generator, got " +
                                      std::to_string(longest));
  }
  return form;
}

// `wanted`: its layers; 0: half of the discriminator's.
ModelForm generator_like(const ModelConfig& discriminator, int64_t wanted) {
  ModelForm form{.config = discriminator, .head = Head::kMaskedLm};
  const int64_t fewest = form.has_mask_decoder() ? 2 : 1;
  if (wanted > 0 && wanted < fewest)
    refuse_argument("generator_layers", "expected at least 2 for the mask decoder, got " + std::to_string(wanted));
  form.config = with_layers(discriminator, wanted > 0 ? wanted : std::max(fewest, discriminator.num_hidden_layers / 2));
  return form;
}

// ---- weights

// Layer n of the generator begins as layer n * (layers of the discriminator) / (its own): every second one of twice as
// many.
std::string name_in_discriminator(const std::string& name, int64_t layers, int64_t of_discriminator) {
  const std::string prefix = "encoder.layer.";
  if (!name.starts_with(prefix)) return name;
  const size_t end = name.find('.', prefix.size());
  const int64_t layer = std::stoll(name.substr(prefix.size(), end - prefix.size()));
  return prefix + std::to_string(layer * of_discriminator / layers) + name.substr(end);
}

void assign(at::Tensor& tensor, const TensorView& view) {
  std::vector<float> values = to_fp32(view);
  tensor.detach().copy_(at::from_blob(values.data(), tensor.sizes(), at::kFloat));
}

// The head stays new, as do positions that neither model has.
void copy_discriminator(Model& generator, Model& discriminator, const Checkpoint& files) {
  std::map<std::string, at::Tensor> tensors;
  visit(discriminator, [&](const ParameterSpec& spec, at::Tensor& tensor) { tensors[spec.name] = tensor; });
  const int64_t layers = generator.form.config.num_hidden_layers,
                of_discriminator = discriminator.form.config.num_hidden_layers;
  visit(generator, [&](const ParameterSpec& spec, at::Tensor& tensor) {
    const auto source = tensors.find(name_in_discriminator(spec.name, layers, of_discriminator));
    const TensorView* view = files.find(spec.name);
    if (source != tensors.end()) {
      tensor.detach().copy_(source->second.detach());
    } else if (view != nullptr && spec.name.starts_with("embeddings.") && view->shape == spec.shape) {
      assign(tensor, *view);  // positions, which only the mask decoder reads
    }
  });
}

// The generator, from its own files, from the discriminator, or new.
void fill_generator(FirstPair& models, const WordRows& rows, const ModelStart& start, const PairSettings& pair) {
  if (!pair.generator_folder.empty()) {
    load_parameters(models.generator, open_generator(pair.generator_folder).weights, {.rows = rows});
  } else if (pair.is_generator_copied) {
    copy_discriminator(models.generator, models.discriminator, Checkpoint::open(start.model_folder));
  }
}

// A number of a new tensor follows from its name: the same seed would give both models the same layers.
void fill_discriminator(Model& discriminator, const WordRows& rows, const std::string& folder,
                        const Beginning& beginning) {
  initialise(discriminator, random_key(beginning.seed, RandomDomain::kDiscriminatorDropout));
  if (folder.empty()) return;
  const std::vector<std::string> added =
      load_parameters(discriminator, Checkpoint::open(folder), {.allows_new_head = true, .rows = rows});
  if (!added.empty()) beginning.note(folder + " has no discriminator head: a new one is trained");
}

// New rows are random. Where the tables are shared the discriminator's begin as the generator's.
void take_new_rows(Model& discriminator, const Model& generator, const WordRows& rows) {
  at::Tensor words_VE = discriminator.embeddings.word_VE.detach();
  const at::Tensor of_generator_VE = generator.embeddings.word_VE.detach();
  for (size_t id = 0; id < rows.from.size(); ++id) {
    const bool is_mean =
        std::ranges::find(rows.means, static_cast<int32_t>(id), &WordRows::Mean::id) != rows.means.end();
    const auto row = static_cast<int64_t>(id);
    if (rows.from[id] < 0 && !is_mean) words_VE[row].copy_(of_generator_VE[row]);
  }
}

// ---- tables

constexpr const char* kWords = "word_embeddings";
using TableCheck =
    std::function<void(const std::string& name, const at::Tensor& discriminator, const at::Tensor& generator)>;

void check_tables(const FirstPair& pair, const TableCheck& check) {
  const Embeddings &d = pair.discriminator.embeddings, &g = pair.generator.embeddings;
  check(kWords, d.word_VE.detach(), g.word_VE.detach());
  if (pair.discriminator.form.reads_positions()) {
    check("position_embeddings", d.position_PE.detach(), g.position_PE.detach());
  }
}

void check_same_tables(const FirstPair& pair) {
  check_tables(pair, [](const std::string& name, const at::Tensor& d, const at::Tensor& g) {
    if (d.equal(g)) return;
    refuse_argument("generator_model",
                    name +
                        ": expected the same numbers in the files of both models, which are to share this table, got "
                        "different ones; give the generator of the same run, or share by differences");
  });
}

void warn_of_other_differences(const FirstPair& pair, const std::string& folder, const WordRows& rows) {
  const Checkpoint files = Checkpoint::open(folder);
  check_tables(pair, [&](const std::string& name, const at::Tensor& d, const at::Tensor& g) {
    const TensorView* view = files.find("embeddings." + name + "._weight");
    if (view == nullptr) return;
    at::Tensor stored = at::zeros_like(d);
    const TensorView* table = files.find("embeddings." + name + ".weight");
    if (!rows.is_in_place() && name == kWords && table != nullptr && view->shape == table->shape)
      assign_rows(stored, *view, rows);
    else if (static_cast<int64_t>(view->count()) == d.numel())
      assign(stored, *view);
    const double worst = (stored - (d - g)).abs().max().item<double>(), largest = d.abs().max().item<double>();
    if (worst <= kDifferenceTolerance * largest) return;
    char text[64];
    std::snprintf(text, sizeof text, "%.3g", worst);
    warn(folder + ": " + name +
         "._weight: expected the discriminator's table less the generator's, got numbers that are off by up to " +
         text + "; the difference of the tables is used instead: do both models come from the same run?");
  });
}

void check_files(const FirstPair& models, const WordRows& rows, const ModelStart& start, const PairSettings& pair) {
  if (start.model_folder.empty()) return;
  const TableSharing sharing = pair.options.sharing;
  if (sharing == TableSharing::kSame) check_same_tables(models);
  const bool is_known = !pair.generator_folder.empty();
  if (sharing == TableSharing::kDisentangled && is_known) warn_of_other_differences(models, start.model_folder, rows);
}

// A generator that is published beside its discriminator has the tokenizer of that.
std::string folder_of_pieces(const ModelStart& start, const std::string& folder) {
  try {
    Tokenizer::load(folder);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kFileNotFound && !start.model_folder.empty()) return start.model_folder;
  }
  return folder;
}

}  // namespace

PairForms forms_of_pair(const ModelStart& start, const PairSettings& pair, size_t longest, const Tokenizer& tokenizer) {
  if (pair.is_generator_copied && start.model_folder.empty())
    refuse_argument("generator_init", "expected a discriminator to make the generator from, got none");
  PairForms forms{.generator = {}, .discriminator = form_of_run(start, longest, tokenizer)};
  forms.discriminator.head = Head::kReplacedToken;
  forms.generator = pair.generator_folder.empty()
                        ? generator_like(forms.discriminator.config, pair.generator_layers)
                        : generator_of_folder(start, pair.generator_folder, longest, tokenizer);
  check_pair(forms.generator, forms.discriminator, pair.options.sharing);
  return forms;
}

PairRows rows_of_pair(const ModelStart& start, const PairSettings& pair, const Tokenizer& tokenizer, const Note& note) {
  PairRows rows{.generator = {}, .discriminator = rows_of_run(start, tokenizer, note)};
  if (!pair.generator_folder.empty()) {
    rows.generator = word_rows({.tokenizer = start.tokenizer(),
                                .weights_folder = folder_of_pieces(start, pair.generator_folder),
                                .has_new_embeddings = start.has_new_embeddings},
                               tokenizer, note);
  }
  return rows;
}

FirstPair first_pair(const ModelStart& start, const PairSettings& pair, const Tokenizer& tokenizer,
                     const Beginning& beginning) {
  const PairRows rows = rows_of_pair(start, pair, tokenizer, beginning.note);
  const PairForms forms = forms_of_pair(start, pair, beginning.longest, tokenizer);
  FirstPair models{.generator = make_model(forms.generator), .discriminator = make_model(forms.discriminator)};
  fill_discriminator(models.discriminator, rows.discriminator, start.model_folder, beginning);
  initialise(models.generator, beginning.seed);
  fill_generator(models, rows.generator, start, pair);
  if (pair.options.sharing != TableSharing::kNone)
    take_new_rows(models.discriminator, models.generator, rows.discriminator);
  check_files(models, rows.discriminator, start, pair);
  if (!start.model_folder.empty() && pair.generator_folder.empty() && pair.steps_of_generator_alone == 0) {
    beginning.note(
        "the generator is new, so at first it shows the trained discriminator random words; a few first steps that "
        "train only the generator avoid this");
  }
  if (start.model_folder.empty() && pair.options.sharing == TableSharing::kDisentangled) {
    clear_difference(models.discriminator);
    models.has_difference = true;
  }
  return models;
}

}  // namespace deberta::train
