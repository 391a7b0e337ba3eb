// What the words of a choice mean, in the library's types where it has one; those of parameters of tasks are in
// pipeline/parameter_words.h. A test fails for a word of the option table that its type lacks.
#pragma once
#include <array>

#include "deberta/analysis.h"
#include "deberta/model.h"
#include "deberta/pipeline.h"
#include "decode/word_tags.h"
#include "pipeline/parameter_words.h"
#include "rows/row.h"

namespace deberta {

enum class LoadWeights { kMap, kRead };
enum class DtypeChoice { kAuto, kFp32, kBf16, kInt8 };
enum class WrittenDtype { kKeep, kFp32, kBf16, kFp16, kInt8 };
enum class Compat { kOriginal, kHf };
enum class TruncateChoice { kAuto, kRight, kLeft, kWindow, kError };
enum class SpecialText { kParse, kLiteral };
enum class AnswerEnds { kWords, kTokens };
enum class PoolingChoice { kAuto, kCls, kMean, kMax, kNone };
enum class ClassifierPoolingChoice { kAuto, kFirst, kMean, kMax, kAttention };
enum class Color { kAuto, kAlways, kNever };
enum class Format { kAuto, kTable, kTsv, kCsv, kJson, kJsonl, kConll, kTrec };
enum class ShowProgress { kAuto, kOn, kOff };
enum class LayoutChoice { kKeep, kV1, kV2 };
enum class ObjectiveChoice { kMlm, kCausal, kRtd };
enum class RtdModeChoice { kDecoupled, kJoint };
enum class SharingChoice { kGdes, kEs, kNes };
enum class GeneratorInitChoice { kAuto, kDiscriminator, kRandom };
enum class BoundaryChoice { kNone, kSep, kBlock };
enum class OptimizerChoice { kXAdam, kAdamW };
enum class RankingLossChoice { kPointwise, kPairwise, kListwise, kMarginMse };
enum class TaskLossChoice { kNone, kClass, kScore, kLabels, kTokens, kSpan, kChoice, kMention };
enum class AdversarialChoice { kNone, kSift, kVat };
enum class VatLossChoice { kSymmetricKl, kKl, kMse };
enum class SiftCompat { kCorrected, kOriginal };
enum class ResumeChoice { kAuto, kNever };
enum class DecayChoice { kLinear, kCosine, kOneMinusSqrt };
enum class LogFormat { kText, kJson };
enum class ExplorerChoice { kAuto, kOn, kOff };
enum class MetricsNames { kDeberta, kTei };
enum class ServedWindows { kOff, kMean, kMax };
enum class HeadNames { kOriginal, kHf };
enum class ShownPart { kHeads, kTerms, kPositions, kTables, kDecoder, kReplaced, kCompare };
enum class FigureChoice {
  kAuto,
  kMatrices,
  kQuantiles,
  kPair,
  kIndex,
  kBuckets,
  kCosines,
  kQuery,
  kPredictions,
  kPasses,
  kWords,
  kWeights
};

template <>
inline constexpr auto kChoiceWords<LoadWeights> =
    std::to_array<ChoiceWord<LoadWeights>>({{"mmap", LoadWeights::kMap}, {"read", LoadWeights::kRead}});
template <>
inline constexpr auto kChoiceWords<DtypeChoice> = std::to_array<ChoiceWord<DtypeChoice>>({{"auto", DtypeChoice::kAuto},
                                                                                          {"fp32", DtypeChoice::kFp32},
                                                                                          {"bf16", DtypeChoice::kBf16},
                                                                                          {"int8",
                                                                                           DtypeChoice::kInt8}});
template <>
inline constexpr auto kChoiceWords<WrittenDtype> =
    std::to_array<ChoiceWord<WrittenDtype>>({{"keep", WrittenDtype::kKeep},
                                             {"fp32", WrittenDtype::kFp32},
                                             {"bf16", WrittenDtype::kBf16},
                                             {"fp16", WrittenDtype::kFp16},
                                             {"int8", WrittenDtype::kInt8}});
template <>
inline constexpr auto kChoiceWords<DType> =
    std::to_array<ChoiceWord<DType>>({{"fp32", DType::kF32}, {"fp16", DType::kF16}, {"bf16", DType::kBf16}});
template <>
inline constexpr auto kChoiceWords<Device> = std::to_array<ChoiceWord<Device>>({{"cpu", Device::kCpu},
                                                                                {"cuda", Device::kCuda}});
template <>
inline constexpr auto kChoiceWords<Compat> = std::to_array<ChoiceWord<Compat>>({{"original", Compat::kOriginal},
                                                                                {"hf", Compat::kHf}});
template <>
inline constexpr auto kChoiceWords<BadRows> = std::to_array<ChoiceWord<BadRows>>({{"report", BadRows::kReport},
                                                                                  {"skip", BadRows::kSkip},
                                                                                  {"fail", BadRows::kFail}});
template <>
inline constexpr auto kChoiceWords<TruncateChoice> =
    std::to_array<ChoiceWord<TruncateChoice>>({{"auto", TruncateChoice::kAuto},
                                               {"right", TruncateChoice::kRight},
                                               {"left", TruncateChoice::kLeft},
                                               {"window", TruncateChoice::kWindow},
                                               {"error", TruncateChoice::kError}});
template <>
inline constexpr auto kChoiceWords<SpecialText> =
    std::to_array<ChoiceWord<SpecialText>>({{"parse", SpecialText::kParse}, {"literal", SpecialText::kLiteral}});
template <>
inline constexpr auto kChoiceWords<TokenizerKind> =
    std::to_array<ChoiceWord<TokenizerKind>>({{"slow", TokenizerKind::kSlow}, {"fast", TokenizerKind::kFast}});
template <>
inline constexpr auto kChoiceWords<SpmTies> = std::to_array<ChoiceWord<SpmTies>>({{"float", SpmTies::kFloat},
                                                                                  {"double", SpmTies::kDouble}});
template <>
inline constexpr auto kChoiceWords<AnswerEnds> =
    std::to_array<ChoiceWord<AnswerEnds>>({{"words", AnswerEnds::kWords}, {"tokens", AnswerEnds::kTokens}});
template <>
inline constexpr auto kChoiceWords<WordLabel> =
    std::to_array<ChoiceWord<WordLabel>>({{"first", WordLabel::kFirst}, {"most_confident", WordLabel::kMostConfident}});
template <>
inline constexpr auto kChoiceWords<PoolingChoice> =
    std::to_array<ChoiceWord<PoolingChoice>>({{"auto", PoolingChoice::kAuto},
                                              {"cls", PoolingChoice::kCls},
                                              {"mean", PoolingChoice::kMean},
                                              {"max", PoolingChoice::kMax},
                                              {"none", PoolingChoice::kNone}});
template <>
inline constexpr auto kChoiceWords<ClassifierPoolingChoice> =
    std::to_array<ChoiceWord<ClassifierPoolingChoice>>({{"auto", ClassifierPoolingChoice::kAuto},
                                                        {"first", ClassifierPoolingChoice::kFirst},
                                                        {"mean", ClassifierPoolingChoice::kMean},
                                                        {"max", ClassifierPoolingChoice::kMax},
                                                        {"attention", ClassifierPoolingChoice::kAttention}});
template <>
inline constexpr auto kChoiceWords<MaskDecoder> = std::to_array<ChoiceWord<MaskDecoder>>({{"auto", MaskDecoder::kAuto},
                                                                                          {"on", MaskDecoder::kOn},
                                                                                          {"off", MaskDecoder::kOff}});
template <>
inline constexpr auto kChoiceWords<Color> =
    std::to_array<ChoiceWord<Color>>({{"auto", Color::kAuto}, {"always", Color::kAlways}, {"never", Color::kNever}});
template <>
inline constexpr auto kChoiceWords<Format> = std::to_array<ChoiceWord<Format>>({{"auto", Format::kAuto},
                                                                                {"table", Format::kTable},
                                                                                {"tsv", Format::kTsv},
                                                                                {"csv", Format::kCsv},
                                                                                {"json", Format::kJson},
                                                                                {"jsonl", Format::kJsonl},
                                                                                {"conll", Format::kConll},
                                                                                {"trec", Format::kTrec}});
template <>
inline constexpr auto kChoiceWords<ShowProgress> = std::to_array<ChoiceWord<ShowProgress>>(
    {{"auto", ShowProgress::kAuto}, {"on", ShowProgress::kOn}, {"off", ShowProgress::kOff}});
template <>
inline constexpr auto kChoiceWords<LayoutChoice> = std::to_array<ChoiceWord<LayoutChoice>>(
    {{"keep", LayoutChoice::kKeep}, {"v1", LayoutChoice::kV1}, {"v2", LayoutChoice::kV2}});
template <>
inline constexpr auto kChoiceWords<HeadNames> =
    std::to_array<ChoiceWord<HeadNames>>({{"original", HeadNames::kOriginal}, {"hf", HeadNames::kHf}});
template <>
inline constexpr auto kChoiceWords<LogFormat> = std::to_array<ChoiceWord<LogFormat>>({{"text", LogFormat::kText},
                                                                                      {"json", LogFormat::kJson}});
template <>
inline constexpr auto kChoiceWords<ExplorerChoice> = std::to_array<ChoiceWord<ExplorerChoice>>(
    {{"auto", ExplorerChoice::kAuto}, {"on", ExplorerChoice::kOn}, {"off", ExplorerChoice::kOff}});
template <>
inline constexpr auto kChoiceWords<MetricsNames> =
    std::to_array<ChoiceWord<MetricsNames>>({{"deberta", MetricsNames::kDeberta}, {"tei", MetricsNames::kTei}});
template <>
inline constexpr auto kChoiceWords<ServedWindows> = std::to_array<ChoiceWord<ServedWindows>>(
    {{"off", ServedWindows::kOff}, {"mean", ServedWindows::kMean}, {"max", ServedWindows::kMax}});
template <>
inline constexpr auto kChoiceWords<ObjectiveChoice> = std::to_array<ChoiceWord<ObjectiveChoice>>(
    {{"mlm", ObjectiveChoice::kMlm}, {"causal", ObjectiveChoice::kCausal}, {"rtd", ObjectiveChoice::kRtd}});
template <>
inline constexpr auto kChoiceWords<RtdModeChoice> = std::to_array<ChoiceWord<RtdModeChoice>>(
    {{"decoupled", RtdModeChoice::kDecoupled}, {"joint", RtdModeChoice::kJoint}});
template <>
inline constexpr auto kChoiceWords<SharingChoice> = std::to_array<ChoiceWord<SharingChoice>>(
    {{"gdes", SharingChoice::kGdes}, {"es", SharingChoice::kEs}, {"nes", SharingChoice::kNes}});
template <>
inline constexpr auto kChoiceWords<GeneratorInitChoice> =
    std::to_array<ChoiceWord<GeneratorInitChoice>>({{"auto", GeneratorInitChoice::kAuto},
                                                    {"discriminator", GeneratorInitChoice::kDiscriminator},
                                                    {"random", GeneratorInitChoice::kRandom}});
template <>
inline constexpr auto kChoiceWords<BoundaryChoice> = std::to_array<ChoiceWord<BoundaryChoice>>(
    {{"none", BoundaryChoice::kNone}, {"sep", BoundaryChoice::kSep}, {"block", BoundaryChoice::kBlock}});
template <>
inline constexpr auto kChoiceWords<OptimizerChoice> = std::to_array<ChoiceWord<OptimizerChoice>>(
    {{"xadam", OptimizerChoice::kXAdam}, {"adamw", OptimizerChoice::kAdamW}});
template <>
inline constexpr auto kChoiceWords<TaskLossChoice> =
    std::to_array<ChoiceWord<TaskLossChoice>>({{"none", TaskLossChoice::kNone},
                                               {"class", TaskLossChoice::kClass},
                                               {"score", TaskLossChoice::kScore},
                                               {"labels", TaskLossChoice::kLabels},
                                               {"tokens", TaskLossChoice::kTokens},
                                               {"span", TaskLossChoice::kSpan},
                                               {"choice", TaskLossChoice::kChoice},
                                               {"mention", TaskLossChoice::kMention}});
template <>
inline constexpr auto kChoiceWords<RankingLossChoice> =
    std::to_array<ChoiceWord<RankingLossChoice>>({{"pointwise", RankingLossChoice::kPointwise},
                                                  {"pairwise", RankingLossChoice::kPairwise},
                                                  {"listwise", RankingLossChoice::kListwise},
                                                  {"margin-mse", RankingLossChoice::kMarginMse}});
template <>
inline constexpr auto kChoiceWords<AdversarialChoice> = std::to_array<ChoiceWord<AdversarialChoice>>(
    {{"none", AdversarialChoice::kNone}, {"sift", AdversarialChoice::kSift}, {"vat", AdversarialChoice::kVat}});
template <>
inline constexpr auto kChoiceWords<VatLossChoice> = std::to_array<ChoiceWord<VatLossChoice>>(
    {{"symmetric-kl", VatLossChoice::kSymmetricKl}, {"kl", VatLossChoice::kKl}, {"mse", VatLossChoice::kMse}});
template <>
inline constexpr auto kChoiceWords<SiftCompat> =
    std::to_array<ChoiceWord<SiftCompat>>({{"corrected", SiftCompat::kCorrected}, {"original", SiftCompat::kOriginal}});
template <>
inline constexpr auto kChoiceWords<DecayChoice> = std::to_array<ChoiceWord<DecayChoice>>(
    {{"linear", DecayChoice::kLinear}, {"cosine", DecayChoice::kCosine}, {"1-sqrt", DecayChoice::kOneMinusSqrt}});
template <>
inline constexpr auto kChoiceWords<ShownPart> =
    std::to_array<ChoiceWord<ShownPart>>({{"heads", ShownPart::kHeads},
                                          {"terms", ShownPart::kTerms},
                                          {"positions", ShownPart::kPositions},
                                          {"tables", ShownPart::kTables},
                                          {"decoder", ShownPart::kDecoder},
                                          {"replaced", ShownPart::kReplaced},
                                          {"compare", ShownPart::kCompare}});
template <>
inline constexpr auto kChoiceWords<FigureChoice> =
    std::to_array<ChoiceWord<FigureChoice>>({{"auto", FigureChoice::kAuto},
                                             {"matrices", FigureChoice::kMatrices},
                                             {"quantiles", FigureChoice::kQuantiles},
                                             {"pair", FigureChoice::kPair},
                                             {"index", FigureChoice::kIndex},
                                             {"buckets", FigureChoice::kBuckets},
                                             {"cosines", FigureChoice::kCosines},
                                             {"query", FigureChoice::kQuery},
                                             {"predictions", FigureChoice::kPredictions},
                                             {"passes", FigureChoice::kPasses},
                                             {"words", FigureChoice::kWords},
                                             {"weights", FigureChoice::kWeights}});
template <>
inline constexpr auto kChoiceWords<PositionVectors> =
    std::to_array<ChoiceWord<PositionVectors>>({{"raw", PositionVectors::kRaw},
                                                {"normed", PositionVectors::kNormed},
                                                {"keys", PositionVectors::kKeys},
                                                {"queries", PositionVectors::kQueries}});
template <>
inline constexpr auto kChoiceWords<ResumeChoice> =
    std::to_array<ChoiceWord<ResumeChoice>>({{"auto", ResumeChoice::kAuto}, {"never", ResumeChoice::kNever}});

}  // namespace deberta
