// One row for each foreign option, with the verbs that it concerns and the answer to it.
#include "options/other_trainers.h"

#include <algorithm>
#include <array>
#include <string>

namespace deberta {
namespace {

constexpr std::string_view kBothVerbs = "pretrain finetune", kFinetuneVerb = "finetune", kPretrainVerb = "pretrain";

constexpr std::array kOtherOptions = {
    OtherTrainersOption{"do-train", kBothVerbs, "leave it out: the verb trains"},
    OtherTrainersOption{"do-eval do-predict", kFinetuneVerb,
                        "leave it out: files named by --validation-file are evaluated on, and `deberta eval` answers "
                        "others"},
    OtherTrainersOption{"do-eval", kPretrainVerb,
                        "leave it out: documents are held out by --hold-out-every and evaluated on"},
    OtherTrainersOption{"evaluation-strategy eval-strategy", kBothVerbs,
                        "evaluations come at the end of each epoch, or every --eval-steps steps"},
    OtherTrainersOption{"save-strategy", kBothVerbs, "checkpoints come every --save-steps steps"},
    OtherTrainersOption{"logging-strategy", kBothVerbs, "a line of the log comes every --logging-steps steps"},
    OtherTrainersOption{"load-best-model-at-end", kFinetuneVerb,
                        "leave it out: with evaluations the best model is the result"},
    OtherTrainersOption{"greater-is-better", kFinetuneVerb, "leave it out: each metric knows its direction"},
    OtherTrainersOption{"per-device-eval-batch-size eval-batch-size predict-batch-size", kBothVerbs,
                        "leave it out: evaluations pack texts by their tokens"},
    OtherTrainersOption{"optim opt-type", kBothVerbs, "--optimizer adamw or xadam, the original's Adam"},
    OtherTrainersOption{"fp16 half-precision-backend fp16-opt-level", kBothVerbs,
                        "--dtype bf16 computes in 16 bits; losses need no scale then"},
    OtherTrainersOption{"overwrite-output-dir", kBothVerbs,
                        "name another folder with -o: a run goes on where its folder has checkpoints, and never "
                        "overwrites another one's"},
    OtherTrainersOption{"resume-from-checkpoint", kBothVerbs,
                        "leave it out: the same command goes on from the newest whole checkpoint in -o"},
    OtherTrainersOption{"report-to tensorboard-dir logging-dir", kBothVerbs,
                        "leave it out: the folder has files for TensorBoard (tb/), run.html and metrics.jsonl"},
    OtherTrainersOption{"dataset-name dataset-config-name", kBothVerbs,
                        "nothing is downloaded: give files (a dataset's to_json or to_csv writes them)"},
    OtherTrainersOption{"data-dir", kFinetuneVerb, "name the files with --train-file and --validation-file"},
    OtherTrainersOption{"test-file", kFinetuneVerb, "`deberta eval -m NEW_MODEL --task NAME FILE` after the run"},
    OtherTrainersOption{"train-file validation-file", kPretrainVerb,
                        "name the text files without an option; documents are held out by --hold-out-every"},
    OtherTrainersOption{"max-eval-samples max-predict-samples", kFinetuneVerb,
                        "give a file with the rows that are evaluated on, or --validation-split"},
    OtherTrainersOption{"pad-to-max-length group-by-length", kBothVerbs,
                        "leave it out: sequences are packed without padding"},
    OtherTrainersOption{"line-by-line", kPretrainVerb,
                        "texts are read in runs; --short-share trains on short ones too"},
    OtherTrainersOption{"preprocessing-num-workers dataloader-num-workers workers", kBothVerbs,
                        "leave it out: --threads is the number of processors in use"},
    OtherTrainersOption{"use-fast-tokenizer do-lower-case vocab-type vocab-path", kBothVerbs,
                        "leave it out: the tokenizer is that of the model's folder"},
    OtherTrainersOption{"model-config", kPretrainVerb, "--config-name, with --config-overrides"},
    OtherTrainersOption{"config-name model-config tokenizer-name", kFinetuneVerb,
                        "leave it out: configuration and tokenizer are those of the model's folder (-m)"},
    OtherTrainersOption{"return-entity-level-metrics", kFinetuneVerb,
                        "leave it out: `deberta eval --task ner` reports them"},
    OtherTrainersOption{"label-all-tokens", kFinetuneVerb, "the first piece of a word learns its label, and no other"},
    OtherTrainersOption{"ignore-mismatched-sizes", kFinetuneVerb,
                        "leave it out: a classifier of other classes is replaced, and that is noted"},
    OtherTrainersOption{"lr-schedule-ends", kBothVerbs, "schedules end at 0; --lr-scheduler-type names them"},
    OtherTrainersOption{"push-to-hub hub-token hub-model-id token", kBothVerbs,
                        "nothing is uploaded: the folder of the result can be"},
    OtherTrainersOption{"torch-compile local-rank ddp-backend deepspeed fsdp", kBothVerbs,
                        "leave it out: a run has one machine, and its kernels are compiled already"},
    OtherTrainersOption{"remove-unused-columns trust-remote-code tf32 data-seed", kBothVerbs,
                        "leave it out: there is nothing to set"},
    OtherTrainersOption{"lora-dropout", kFinetuneVerb,
                        "the model computes with one matrix, which cannot drop the inputs of its addition alone"},
    OtherTrainersOption{"fgm awp", kFinetuneVerb, "--adversarial sift or vat (docs/guides/adversarial.md)"},
    OtherTrainersOption{"llrd", kFinetuneVerb, "--layer-decay"},
    OtherTrainersOption{"tag export-onnx-model export-ort-model wandb-project", kBothVerbs, "there is nothing like it"},
};

bool is_named(const OtherTrainersOption& row, std::string_view name, std::string_view verb) {
  const auto has = [](std::string_view words, std::string_view word) {
    const std::string all = ' ' + std::string(words) + ' ';
    return all.find(' ' + std::string(word) + ' ') != std::string::npos;
  };
  return has(row.names, name) && has(row.verbs, verb);
}

}  // namespace

std::span<const OtherTrainersOption> other_trainers_options() {
  return kOtherOptions;
}

std::string_view answer_to(std::string_view name, std::string_view verb) {
  std::string spelled(name);
  std::ranges::replace(spelled, '_', '-');
  const auto entry = std::ranges::find_if(kOtherOptions, [&](const auto& row) { return is_named(row, spelled, verb); });
  return entry == kOtherOptions.end() || spelled.empty() ? std::string_view() : entry->answer;
}

}  // namespace deberta
