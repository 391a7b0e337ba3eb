// The defaults of the option table are those of the library: a caller of either gets the same answers.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/model_conversion.h"
#include "config/aggregation.h"
#include "deberta/pipeline.h"
#include "eval/questions.h"
#include "options/verb_options.h"
#include "program/model_options.h"

namespace deberta::cli::defaults_test {
namespace {

template <class Verb>
Verb defaults() {
  return Verb(Options(Verb::kName));
}

template <class Verb>
void expect_same_encoding(const EncodingRules& library) {
  SCOPED_TRACE(std::string(Verb::kName));
  const EncodingRules rules = program::encoding_rules(defaults<Verb>().encoding);
  EXPECT_EQ(rules.encode.max_text_bytes, library.encode.max_text_bytes);
  EXPECT_EQ(rules.encode.parse_special, library.encode.parse_special);
  EXPECT_EQ(rules.encode.spm_ties, library.encode.spm_ties);
  EXPECT_EQ(rules.stride, library.stride);
  EXPECT_EQ(rules.batch_tokens, library.batch_tokens);
}

TEST(Defaults, OfEncodingAreTheLibrarys) {
  expect_same_encoding<ClassifyVerb>(SequenceOptions{}.rules);
  expect_same_encoding<NerVerb>(TokenOptions{}.rules);
  expect_same_encoding<ExtractVerb>(ExtractOptions{}.rules);
  expect_same_encoding<QaVerb>(QuestionOptions{}.rules);
  expect_same_encoding<FillVerb>(EncodingRules{});
  expect_same_encoding<EvalVerb>(EncodingRules{});
  EXPECT_EQ(program::encoding_rules(defaults<ClassifyVerb>().encoding).encode.max_tokens, EncodeOptions{}.max_tokens);
  EXPECT_EQ(program::encoding_rules(defaults<EvalVerb>().encoding).encode.max_tokens, EncodeOptions{}.max_tokens);
}

TEST(Defaults, OfModelsAreTheLibrarys) {
  const ModelOptions options = program::model_options(defaults<FillVerb>().model), library;
  EXPECT_EQ(options.precision, library.precision);
  EXPECT_EQ(options.threads, library.threads);
  EXPECT_EQ(options.kernels, library.kernels);
  EXPECT_EQ(options.distance, library.distance);
  EXPECT_EQ(options.mask_decoder, library.mask_decoder);
  EXPECT_EQ(options.empty_rows, library.empty_rows);
  EXPECT_EQ(options.tokenizer, library.tokenizer);
  EXPECT_EQ(options.config_rules, library.config_rules);
  const OpenOptions open = program::open_options(defaults<FillVerb>().model);
  EXPECT_EQ(open.reads_whole, OpenOptions{}.reads_whole);
  EXPECT_EQ(open.checks_crc, OpenOptions{}.checks_crc);
}

TEST(Defaults, OfTasksAreTheLibrarys) {
  EXPECT_EQ(defaults<QaVerb>().top_k, QuestionOptions{}.top_k);
  EXPECT_EQ(defaults<QaVerb>().max_answer_len, QuestionOptions{}.max_answer_tokens);
  EXPECT_EQ(defaults<QaVerb>().max_question_len, QuestionOptions{}.max_question_tokens);
  EXPECT_EQ(defaults<QaVerb>().align == AnswerEnds::kWords, QuestionOptions{}.aligns_to_words);
  EXPECT_EQ(defaults<EvalVerb>().max_answer_len, squad_options().max_answer_tokens);
  EXPECT_EQ(defaults<EvalVerb>().max_question_len, squad_options().max_question_tokens);
  EXPECT_EQ(defaults<EvalVerb>().align == AnswerEnds::kWords, squad_options().aligns_to_words);
  EXPECT_EQ(defaults<ZeroShotVerb>().hypothesis_template, ZeroShotOptions{}.hypothesis_template);
  EXPECT_EQ(aggregation_named(defaults<NerVerb>().aggregate), EntityRules{}.aggregation);
  EXPECT_EQ(defaults<NerVerb>().ignore_labels, EntityRules{}.ignored);
  EXPECT_EQ(defaults<ExtractVerb>().threshold, (std::vector<std::string>{"0.5"}));
  EXPECT_EQ(ExtractOptions{}.threshold, 0.5);
  EXPECT_EQ(defaults<ExtractVerb>().nested, ExtractOptions{}.is_nested);
  EXPECT_EQ(defaults<ExtractVerb>().multi_label, ExtractOptions{}.is_multi_label);
  EXPECT_EQ(defaults<ExtractVerb>().join, ExtractOptions{}.joins_neighbours);
  EXPECT_EQ(defaults<ChooseVerb>().form, ChoiceOptions{}.form);
  EXPECT_EQ(defaults<ConvertVerb>().shard_size, ConversionJob{}.shard_bytes);
}

}  // namespace
}  // namespace deberta::cli::defaults_test
