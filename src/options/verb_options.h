// The options of each verb, typed: one struct per verb, named for it, and groups that several verbs share. Names,
// defaults and ranges are in the option table (table/).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "jobs/plan.h"
#include "options/choices.h"
#include "options/option_group.h"

namespace deberta {

// ---- groups

// A model whose weights are read.
struct WeightSettings : OptionGroup {
  using OptionGroup::OptionGroup;
  std::string name = option("model");
  LoadWeights load = option("load");
  bool no_crc = option("no-crc");
};

// A model that runs.
struct ModelSettings : WeightSettings {
  using WeightSettings::WeightSettings;
  Device device = option("device");
  std::string kernels = option("kernels");
  DtypeChoice dtype = option("dtype");
  bool allow_uncalibrated = option("allow-uncalibrated");
  size_t threads = option("threads");
  Compat compat = option("compat");
  std::optional<MaskDecoder> emd = option_if_any("emd");
  std::optional<TokenizerKind> tokenizer = option_if_any("tokenizer");
};

// How a text becomes the sequences that the model reads.
struct EncodingSettings : OptionGroup {
  using OptionGroup::OptionGroup;
  Setting<std::optional<size_t>> max_tokens = option("max-tokens");  // none: auto
  std::optional<Setting<TruncateChoice>> truncate = option_if_any("truncate");
  std::optional<Setting<size_t>> stride = option_if_any("stride");
  size_t max_text_bytes = option("max-text-bytes");
  SpecialText special_text = option("special-text");
  SpmTies spm_ties = option("spm-ties");
  std::optional<size_t> batch_tokens = option_if_any("batch-tokens");
};

// How the windows of a text are scored, and which classes are benign.
struct WindowSettings : OptionGroup {
  using OptionGroup::OptionGroup;
  WindowScores scores = option("window-scores");
  std::vector<std::string> benign_label = option("benign-label");
};

// How files become rows.
struct RowSettings : OptionGroup {
  using OptionGroup::OptionGroup;
  std::string input_format = option("input-format");
  std::vector<std::string> input_field = option("input-field");
  std::optional<std::string> separator = option_if_any("separator");
  std::optional<Setting<std::vector<std::string>>> keep = option_if_any("keep");
};

// Many files, each with answers of its own.
struct FileSettings : OptionGroup {
  using OptionGroup::OptionGroup;
  std::optional<std::vector<std::string>> files = option_if_any("files");
  std::optional<std::string> files_from = option_if_any("files-from");
};

// Where answers go, and in which form.
struct OutputSettings : OptionGroup {
  using OptionGroup::OptionGroup;
  std::optional<std::string> file = option_if_any("output");
  std::optional<std::string> folder = option_if_any("to");
  std::optional<Format> format = option_if_any("format");
  std::optional<bool> no_header = option_if_any("no-header");
  std::optional<bool> bom = option_if_any("bom");
  std::optional<Setting<int>> digits = option_if_any("digits");
};

// ---- verbs

struct AnyVerb : OptionGroup {
  using OptionGroup::OptionGroup;
  std::string verb = options().verb();
  std::vector<std::string> arguments = options().arguments;  // the positional ones
  std::vector<std::string> words = options().words;          // the whole command line
  bool quiet = option("quiet");
  std::string config = option("config");
  bool print_config = option("print-config");
};

// What --files asks for, once the model is known (program/file_jobs.h).
struct PlannedJob {
  std::vector<jobs::JobFile> files;
  Json description;
  bool is_parquet = false;  // all of them (program/parquet_files.h)
};

// A verb that answers rows.
struct RowVerb : AnyVerb {
  using AnyVerb::AnyVerb;
  std::vector<std::string> input = option("input");
  FileSettings files{options()};
  std::optional<PlannedJob> job = {};
  RowSettings rows{options()};
  BadRows on_bad_row = option("on-bad-row");
  EncodingSettings encoding{options()};
  OutputSettings output{options()};
  ShowProgress progress = option("progress");
};

// A verb that answers rows with a model.
struct TextVerb : RowVerb {
  using RowVerb::RowVerb;
  ModelSettings model{options()};
};

struct ClassifyVerb : TextVerb {
  static constexpr std::string_view kName = "classify";
  using TextVerb::TextVerb;
  bool pair = option("pair");
  size_t top_k = option("top-k");
  WindowSettings windows{options()};
  Setting<std::optional<ScoreFunction>> activation = option("activation");  // none: auto
};

struct NliVerb : TextVerb {
  static constexpr std::string_view kName = "nli";
  using TextVerb::TextVerb;
  std::vector<std::string> label_map = option("label-map");
  Setting<std::optional<ScoreFunction>> activation = option("activation");  // none: auto
};

struct ZeroShotVerb : TextVerb {
  static constexpr std::string_view kName = "zero-shot";
  using TextVerb::TextVerb;
  std::vector<std::string> labels = option("labels");
  std::string labels_file = option("labels-file");
  std::string hypothesis_template = option("template");
  bool multi_label = option("multi-label");
  std::vector<std::string> label_map = option("label-map");
};

struct NerVerb : TextVerb {
  static constexpr std::string_view kName = "ner";
  using TextVerb::TextVerb;
  std::string aggregate = option("aggregate");
  std::vector<std::string> ignore_labels = option("ignore-labels");
  OffsetUnit offsets = option("offsets");
};

struct ExtractVerb : TextVerb {
  static constexpr std::string_view kName = "extract";
  using TextVerb::TextVerb;
  std::vector<std::string> labels = option("labels");
  std::string labels_file = option("labels-file");
  std::string preset = option("preset");
  std::vector<std::string> threshold = option("threshold");
  bool nested = option("nested");
  bool join = option("join");
  bool multi_label = option("multi-label");
  OffsetUnit offsets = option("offsets");
  bool redact = option("redact");
  std::string redact_map = option("redact-map");
  std::string restore = option("restore");
};

struct QaVerb : TextVerb {
  static constexpr std::string_view kName = "qa";
  using TextVerb::TextVerb;
  size_t max_question_len = option("max-question-len");
  size_t top_k = option("top-k");
  size_t max_answer_len = option("max-answer-len");
  AnswerEnds align = option("align");
  bool allow_no_answer = option("allow-no-answer");
  Setting<double> no_answer_threshold = option("no-answer-threshold");
  OffsetUnit offsets = option("offsets");
};

struct ChooseVerb : TextVerb {
  static constexpr std::string_view kName = "choose";
  using TextVerb::TextVerb;
  ChoiceForm form = option("form");
};

struct RerankVerb : TextVerb {
  static constexpr std::string_view kName = "rerank";
  using TextVerb::TextVerb;
  std::string query = option("query");
  size_t top_k = option("top-k");
  bool return_text = option("return-text");
  Setting<std::optional<ScoreFunction>> activation = option("activation");  // none: auto
};

struct EmbedVerb : TextVerb {
  static constexpr std::string_view kName = "embed";
  using TextVerb::TextVerb;
  PoolingChoice pooling = option("pooling");
  bool normalize = option("normalize");
  bool similarity = option("similarity");
  Setting<DType> output_dtype = option("output-dtype");
  int64_t layer = option("layer");
};

struct FillVerb : TextVerb {
  static constexpr std::string_view kName = "fill";
  using TextVerb::TextVerb;
  size_t top_k = option("top-k");
  Setting<std::vector<std::string>> targets = option("targets");
};

struct ScoreVerb : TextVerb {
  static constexpr std::string_view kName = "score";
  using TextVerb::TextVerb;
  bool tokens = option("tokens");
  OffsetUnit offsets = option("offsets");
};

struct DetectVerb : TextVerb {
  static constexpr std::string_view kName = "detect";
  using TextVerb::TextVerb;
  double threshold = option("threshold");
  Color color = option("color");
  OffsetUnit offsets = option("offsets");
};

// Which figure `analyze` shows, and of what.
struct FigureSettings : OptionGroup {
  using OptionGroup::OptionGroup;
  ShownPart show = option("show");
  FigureChoice figure = option("figure");
  Setting<std::optional<int64_t>> layer = option("layer");  // none: auto
  Setting<std::optional<int64_t>> head = option("head");
  Setting<std::string> query = option("query");
  Setting<std::string> key = option("key");
  Setting<std::optional<int64_t>> length = option("length");
  Setting<PositionVectors> vectors = option("vectors");
  Setting<size_t> top_k = option("top-k");
  Setting<int32_t> shift = option("shift");
  Setting<std::vector<std::string>> words = option("words");
  Setting<std::string> generator_model = option("generator-model");
  Setting<double> mlm_probability = option("mlm-probability");
  Setting<uint64_t> seed = option("seed");
  Setting<std::vector<std::string>> with = option("with");
};

struct AnalyzeVerb : TextVerb {
  static constexpr std::string_view kName = "analyze";
  using TextVerb::TextVerb;
  bool pair = option("pair");
  std::string page = option("page");
  FigureSettings figures{options()};
};

struct TokenizeVerb : RowVerb {
  static constexpr std::string_view kName = "tokenize";
  using RowVerb::RowVerb;
  std::string model = option("model");
  TokenizerKind tokenizer = option("tokenizer");
  bool pair = option("pair");
  bool no_special = option("no-special");
  bool decode = option("decode");
  OffsetUnit offsets = option("offsets");
};

struct ForwardVerb : AnyVerb {
  static constexpr std::string_view kName = "forward";
  using AnyVerb::AnyVerb;
  ModelSettings model{options()};
  TokenizerKind tokenizer = option("tokenizer");
  bool pair = option("pair");
  std::string ids = option("ids");
  std::string mask = option("mask");
  std::vector<std::string> layers = option("layers");
  bool scores = option("scores");
  std::string output = option("output");
};

struct EvalVerb : AnyVerb {
  static constexpr std::string_view kName = "eval";
  using AnyVerb::AnyVerb;
  ModelSettings model{options()};
  EncodingSettings encoding{options()};
  OutputSettings output{options()};
  ShowProgress progress = option("progress");
  std::string task = option("task");
  std::vector<std::string> input = option("input");  // files, besides those among the arguments
  std::string input_format = option("input-format");
  std::vector<std::string> input_field = option("input-field");
  std::vector<std::string> label_field = option("label-field");
  std::string labels_file = option("labels-file");
  BadRows on_bad_row = option("on-bad-row");
  std::string predictions = option("predictions");
  std::string na_prob = option("na-prob");
  Setting<std::optional<double>> no_answer_threshold = option("no-answer-threshold");  // none: auto
  size_t max_answer_len = option("max-answer-len");
  size_t max_question_len = option("max-question-len");
  AnswerEnds align = option("align");
  WordLabel word_label = option("word-label");
  std::string aggregate = option("aggregate");
  bool merge_sentences = option("merge-sentences");
  std::vector<std::string> label_map = option("label-map");
  std::vector<std::string> label_names = option("label-names");
  Setting<double> threshold = option("threshold");
  bool nested = option("nested");
  WindowSettings windows{options()};
  std::vector<std::string> false_positive_rate = option("false-positive-rate");
  std::vector<std::string> metrics = option("metrics");
  Setting<std::optional<double>> beta = option("beta");  // none: auto
  std::string positive_label = option("positive-label");
  std::vector<std::string> label_order = option("label-order");
  bool best_threshold = option("best-threshold");
  std::vector<std::string> recall_at_precision = option("recall-at-precision");
  std::vector<std::string> precision_at_recall = option("precision-at-recall");
  std::string by = option("by");
  double mlm_probability = option("mlm-probability");
  uint64_t hold_out_every = option("hold-out-every");
  size_t bootstrap = option("bootstrap");
  uint64_t seed = option("seed");
  std::string write_predictions = option("write-predictions");
  std::string output_dir = option("output-dir");
  bool list = option("list");
  std::string average = option("average");
  bool published = option("published");
  std::string chart = option("chart");
};

struct InspectVerb : AnyVerb {
  static constexpr std::string_view kName = "inspect";
  using AnyVerb::AnyVerb;
  WeightSettings model{options()};
  OutputSettings output{options()};
  bool stats = option("stats");
  std::string diff = option("diff");
};

struct CheckVerb : AnyVerb {
  static constexpr std::string_view kName = "check";
  using AnyVerb::AnyVerb;
  WeightSettings model{options()};
  OutputSettings output{options()};
  ShowProgress progress = option("progress");
  std::string output_dir = option("output-dir");
  bool strict = option("strict");
};

struct ConvertVerb : AnyVerb {
  static constexpr std::string_view kName = "convert";
  using AnyVerb::AnyVerb;
  WeightSettings model{options()};
  OutputSettings output{options()};
  ShowProgress progress = option("progress");
  std::string output_dir = option("output-dir");
  WrittenDtype dtype = option("dtype");
  LayoutChoice layout = option("layout");
  HeadNames head_names = option("head-names");
  bool drop_delta = option("drop-delta");
  uint64_t shard_size = option("shard-size");
  std::string adapter = option("adapter");
  std::vector<std::string> average = option("average");
  bool verify = option("verify");
  // For int8.
  std::vector<std::string> calibration_data = option("calibration-data");
  Setting<std::string> smoothing = option("smoothing");
  RowSettings rows{options()};
  EncodingSettings encoding{options()};
  TokenizerKind tokenizer = option("tokenizer");
};

struct BenchVerb : AnyVerb {
  static constexpr std::string_view kName = "bench";
  using AnyVerb::AnyVerb;
  WeightSettings model{options()};
  OutputSettings output{options()};
  std::string kernels = option("kernels");
  DtypeChoice dtype = option("dtype");
  std::vector<std::string> threads = option("threads");
  std::vector<std::string> lengths = option("lengths");
  std::string lengths_file = option("lengths-file");
  std::vector<std::string> batch = option("batch");
  size_t batch_tokens = option("batch-tokens");
  double min_time = option("min-time");
  bool operations = option("operations");
  bool training = option("training");
  std::string baseline = option("baseline");
};

struct InfoVerb : AnyVerb {
  static constexpr std::string_view kName = "info";
  using AnyVerb::AnyVerb;
  WeightSettings model{options()};
  std::vector<std::string> sizes = option("sizes");
  Setting<int64_t> length = option("length");
  OutputSettings output{options()};
  std::string kernels = option("kernels");
};

// An optimiser's settings.
struct OptimizerSettings : OptionGroup {
  using OptionGroup::OptionGroup;
  OptimizerChoice optimizer = option("optimizer");
  Setting<std::optional<double>> learning_rate = option("learning-rate");  // none: auto, which `finetune` has
  double weight_decay = option("weight-decay");
  double adam_beta1 = option("adam-beta1");
  double adam_beta2 = option("adam-beta2");
  double adam_epsilon = option("adam-epsilon");
  double max_grad_norm = option("max-grad-norm");
};

// The settings of replaced-token detection that `pretrain` and `replay` share.
struct ReplacedTokenOptions : OptionGroup {
  using OptionGroup::OptionGroup;
  Setting<RtdModeChoice> mode = option("rtd-mode");
  Setting<double> lambda = option("rtd-lambda");
  Setting<SharingChoice> sharing = option("embedding-sharing");
  Setting<double> discriminator_rate = option("discriminator-learning-rate");
  Setting<std::string> generator_model = option("generator-model");
};

// The options of every training run.
struct RunOptions : OptionGroup {
  using OptionGroup::OptionGroup;
  std::string lr_scheduler_type = option("lr-scheduler-type");
  Setting<double> lr_decay_steps = option("lr-decay-steps");
  Setting<DecayChoice> lr_decay_type = option("lr-decay-type");
  uint64_t seed = option("seed");
  std::string output_dir = option("output-dir");
  int64_t logging_steps = option("logging-steps");
  int64_t save_steps = option("save-steps");
  size_t save_total_limit = option("save-total-limit");
  int64_t eval_steps = option("eval-steps");
  ResumeChoice resume = option("resume");
  std::vector<std::string> resume_override = option("resume-override");
  bool gradient_checkpointing = option("gradient-checkpointing");
  bool auto_find_batch_size = option("auto-find-batch-size");
  double loss_scale = option("loss-scale");
  double ema_decay = option("ema-decay");
  std::string max_time = option("max-time");
  bool dry_run = option("dry-run");
  bool find_lr = option("find-lr");
  bool keeps_nothing() const { return dry_run || find_lr; }
  DtypeChoice dtype = option("dtype");
  std::string kernels = option("kernels");
  size_t threads = option("threads");
  ShowProgress progress = option("progress");
  // For the model card alone: what a hub wants to know about a model.
  std::string card_base_model = option("card-base-model");
  std::string card_license = option("card-license");
  std::vector<std::string> card_language = option("card-language");
  std::vector<std::string> card_datasets = option("card-datasets");
};

struct PretrainVerb : AnyVerb {
  static constexpr std::string_view kName = "pretrain";
  using AnyVerb::AnyVerb;
  // The model.
  std::string model = option("model");
  std::string tokenizer_name = option("tokenizer-name");
  std::vector<std::string> add_tokens = option("add-tokens");
  bool new_embeddings = option("new-embeddings");
  std::string config_name = option("config-name");
  std::vector<std::string> config_overrides = option("config-overrides");
  Setting<std::optional<int64_t>> decoder_passes = option("decoder-passes");  // none: auto
  // The corpora.
  std::string cache_dir = option("cache-dir");
  uint64_t hold_out_every = option("hold-out-every");
  BoundaryChoice document_boundary = option("document-boundary");
  std::vector<std::string> source_weights = option("source-weights");
  double source_exponent = option("source-exponent");
  // The objective, and how it is trained.
  std::string recipe = option("recipe");  // its values are set before (train/cli/recipe_options.h)
  ObjectiveChoice objective = option("objective");
  ReplacedTokenOptions replaced_tokens{options()};
  Setting<GeneratorInitChoice> generator_init = option("generator-init");
  Setting<int64_t> generator_layers = option("generator-layers");
  Setting<int64_t> generator_warmup = option("generator-warmup");
  double mlm_probability = option("mlm-probability");
  Setting<size_t> max_gram = option("max-gram");
  bool uniform_tail = option("uniform-tail");
  size_t max_tokens = option("max-tokens");
  size_t long_tokens = option("long-tokens");
  double long_share = option("long-share");
  double short_share = option("short-share");
  size_t batch_size = option("batch-size");
  size_t gradient_accumulation_steps = option("gradient-accumulation-steps");
  int64_t max_steps = option("max-steps");
  int64_t max_train_tokens = option("max-train-tokens");
  double num_train_epochs = option("num-train-epochs");
  OptimizerSettings optimizer{options()};
  RunOptions run{options()};
  double warmup_steps = option("warmup-steps");
  // What is left on the disk.
  size_t eval_lines = option("eval-lines");
  size_t prefetch = option("prefetch");
};

// Adversarial fine-tuning.
struct AdversarialSettings : OptionGroup {
  using OptionGroup::OptionGroup;
  AdversarialChoice adversarial = option("adversarial");
  Setting<double> vat_lambda = option("vat-lambda");
  Setting<double> vat_learning_rate = option("vat-learning-rate");
  Setting<double> vat_init_perturbation = option("vat-init-perturbation");
  Setting<VatLossChoice> vat_loss_fn = option("vat-loss-fn");
  Setting<SiftCompat> sift_compat = option("sift-compat");
};

// Distillation.
struct TeacherSettings : OptionGroup {
  using OptionGroup::OptionGroup;
  std::string folder = option("teacher");
  Setting<double> weight = option("teacher-weight");
  Setting<double> temperature = option("teacher-temperature");
};

struct FinetuneVerb : AnyVerb {
  static constexpr std::string_view kName = "finetune";
  using AnyVerb::AnyVerb;
  std::string model = option("model");
  std::vector<std::string> add_tokens = option("add-tokens");
  // The files.
  std::string task = option("task");
  std::vector<std::string> train_file = option("train-file");
  std::vector<std::string> validation_file = option("validation-file");
  double validation_split = option("validation-split");
  std::string fold = option("fold");
  std::string group_field = option("group-field");
  std::string labels_file = option("labels-file");
  std::string validation_labels_file = option("validation-labels-file");
  std::string input_format = option("input-format");
  std::vector<std::string> input_field = option("input-field");
  std::vector<std::string> label_field = option("label-field");
  std::string weight_field = option("weight-field");
  bool merge_sentences = option("merge-sentences");
  BadRows on_bad_row = option("on-bad-row");
  size_t max_train_samples = option("max-train-samples");
  Setting<std::optional<size_t>> max_tokens = option("max-tokens");  // none: auto
  Setting<TruncateChoice> truncate = option("truncate");
  Setting<size_t> stride = option("stride");
  // The training.
  std::string recipe = option("recipe");
  Setting<size_t> batch_size = option("batch-size");
  size_t gradient_accumulation_steps = option("gradient-accumulation-steps");
  Setting<double> num_train_epochs = option("num-train-epochs");
  int64_t max_steps = option("max-steps");
  OptimizerSettings optimizer{options()};
  RunOptions run{options()};
  Setting<double> warmup_steps = option("warmup-steps");
  Setting<std::optional<double>> head_learning_rate = option("head-learning-rate");  // none: auto
  double layer_decay = option("layer-decay");
  Setting<std::optional<double>> cls_dropout = option("cls-dropout");  // none: auto
  ClassifierPoolingChoice pooling = option("pooling");
  AdversarialSettings adversarial{options()};
  double label_smoothing_factor = option("label-smoothing-factor");
  std::vector<std::string> class_weights = option("class-weights");
  TeacherSettings teacher{options()};
  Setting<RankingLossChoice> ranking_loss = option("ranking-loss");
  Setting<size_t> max_documents = option("max-documents");
  std::vector<std::string> label_names = option("label-names");
  Setting<std::string> span_mode = option("span-mode");
  Setting<std::optional<int64_t>> max_width = option("max-width");    // none: auto
  Setting<std::optional<int64_t>> rnn_layers = option("rnn-layers");  // none: auto
  Setting<size_t> max_labels = option("max-labels");
  Setting<size_t> negative_labels = option("negative-labels");
  Setting<std::optional<double>> focal_alpha = option("focal-alpha");  // none: auto
  Setting<double> focal_gamma = option("focal-gamma");
  Setting<std::optional<int64_t>> frozen_layers = option("frozen-layers");  // none: auto
  int64_t lora_rank = option("lora-rank");
  Setting<double> lora_alpha = option("lora-alpha");
  Setting<std::vector<std::string>> lora_targets = option("lora-targets");
  int64_t reinit_layers = option("reinit-layers");
  // What is left on the disk.
  std::string best_metric = option("best-metric");
  int64_t early_stopping_patience = option("early-stopping-patience");
};

struct ReplayVerb : AnyVerb {
  static constexpr std::string_view kName = "replay";
  using AnyVerb::AnyVerb;
  std::string model = option("model");
  std::string batches = option("batches");
  std::string output = option("output");
  Setting<std::optional<int64_t>> decoder_passes = option("decoder-passes");  // none: auto
  ObjectiveChoice objective = option("objective");
  ReplacedTokenOptions replaced_tokens{options()};
  TaskLossChoice task_loss = option("task-loss");  // none: by objective
  AdversarialSettings adversarial{options()};
  TeacherSettings teacher{options()};
  OptimizerSettings optimizer{options()};
  DtypeChoice dtype = option("dtype");
  std::string kernels = option("kernels");
  size_t threads = option("threads");
};

struct AblateVerb : AnyVerb {
  static constexpr std::string_view kName = "ablate";
  using AnyVerb::AnyVerb;
  std::string output_dir = option("output-dir");
  std::string results = option("results");
  bool tables_only = option("tables-only");
  size_t threads = option("threads");
  ShowProgress progress = option("progress");
};

struct ReportVerb : AnyVerb {
  static constexpr std::string_view kName = "report";
  using AnyVerb::AnyVerb;
  std::vector<std::string> beside = option("beside");
};

struct ChartVerb : AnyVerb {
  static constexpr std::string_view kName = "chart";
  using AnyVerb::AnyVerb;
  OutputSettings output{options()};
};

struct CompletionVerb : AnyVerb {
  static constexpr std::string_view kName = "completion";
  using AnyVerb::AnyVerb;
};

struct HelpVerb : AnyVerb {
  static constexpr std::string_view kName = "help";
  using AnyVerb::AnyVerb;
  bool man = option("man");
};

// In the order of the table of verbs.
struct ServeVerb : AnyVerb {
  static constexpr std::string_view kName = "serve";
  using AnyVerb::AnyVerb;
  std::vector<std::string> models = option("model");              // [NAME[,ALIAS...]=]DIR
  std::vector<std::string> model_limits = option("model-limit");  // NAME=REQUESTS[,TOKENS]
  std::string default_model = option("default-model");
  LoadWeights load = option("load");
  bool no_crc = option("no-crc");
  Device device = option("device");
  std::string kernels = option("kernels");
  DtypeChoice dtype = option("dtype");
  bool allow_uncalibrated = option("allow-uncalibrated");
  size_t threads = option("threads");
  Compat compat = option("compat");
  Setting<size_t> batch_tokens = option("batch-tokens");
  Setting<std::string> host = option("host");
  Setting<uint16_t> port = option("port");
  std::string uds = option("uds");
  std::string uds_mode = option("uds-mode");
  std::string api_key = option("api-key");
  std::string api_key_file = option("api-key-file");
  bool admin = option("admin");
  ExplorerChoice explorer = option("explorer");
  bool strict_fields = option("strict-fields");
  bool openapi = option("openapi");
  MetricsNames metrics_names = option("metrics-names");
  Setting<std::optional<size_t>> metrics_port = option("metrics-port");  // none: auto
  std::vector<std::string> allowed_host = option("allowed-host");
  std::vector<std::string> cors_allow_origin = option("cors-allow-origin");
  std::vector<std::string> trusted_proxy = option("trusted-proxy");
  double rate_limit = option("rate-limit");
  size_t http_threads = option("http-threads");
  size_t tokenization_workers = option("tokenization-workers");
  size_t max_concurrent_requests = option("max-concurrent-requests");
  size_t max_client_batch = option("max-client-batch");
  size_t max_batch_items = option("max-batch-items");
  Setting<std::optional<size_t>> max_input_length = option("max-input-length");  // none: auto
  size_t max_body = option("max-body");
  size_t max_answer = option("max-answer");
  size_t max_client_bytes = option("max-client-bytes");
  size_t memory_limit = option("memory-limit");
  size_t max_connections = option("max-connections");
  size_t max_connections_per_address = option("max-connections-per-address");
  int64_t deadline_ms = option("deadline-ms");
  double drain_s = option("drain-s");
  double drain_grace_s = option("drain-grace-s");
  TruncateChoice truncate = option("truncate");
  ServedWindows window_scores = option("window-scores");
  std::vector<std::string> benign_label = option("benign-label");
  LogFormat log_format = option("log-format");
  std::string log_file = option("log-file");
};

using Verbs = std::tuple<ClassifyVerb, NliVerb, ZeroShotVerb, NerVerb, ExtractVerb, QaVerb, ChooseVerb, RerankVerb,
                         EmbedVerb, FillVerb, ScoreVerb, DetectVerb, AnalyzeVerb, TokenizeVerb, ForwardVerb, EvalVerb,
                         InspectVerb, CheckVerb, ConvertVerb, BenchVerb, ServeVerb, InfoVerb, PretrainVerb,
                         FinetuneVerb, AblateVerb, ReplayVerb, ReportVerb, ChartVerb, CompletionVerb, HelpVerb>;

}  // namespace deberta
