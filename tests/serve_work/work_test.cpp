// Bodies made to be slow, each larger in one dimension: what a server does with one before its sequences wait in the
// queue must grow only as the body does. Work is the number of basic blocks that run in the sources that read bodies
// and plan answers, which are compiled for this program with a call in each: no clock is involved.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>

#include "base/json.h"
#include "serve/answering.h"
#include "serve/api_error.h"
#include "support/tiny_extractor.h"
#include "support/tiny_pipeline.h"

namespace {
size_t blocks = 0;
}

extern "C" void __sanitizer_cov_trace_pc() {
  ++blocks;
}

namespace deberta::serve::work_test {
namespace {

using Route = Answering (*)(const ServedModel& model, Body& body);

std::string repeat(const std::string& part, size_t count, const std::string& between = ", ") {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += (i == 0 ? "" : between) + part;
  return text;
}

std::string numbered(size_t count, const std::string& before, const std::string& behind) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format("{}{}{}{}", i == 0 ? "" : ", ", before, i, behind);
  return text;
}

class Work : public testing::Test {
 protected:
  static ServedModel served(const test::TemporaryFolder& folder, Head head, std::vector<std::string> labels) {
    const auto classes = static_cast<int64_t>(labels.size());
    return {.name = "m",
            .path = folder.path(),
            .pipeline = test::tiny_pipeline(folder, head, std::move(labels), classes),
            .max_client_batch = size_t{1} << 20};
  }
  const test::TemporaryFolder sequence_folder_, ranker_folder_, token_folder_, words_folder_, extractor_folder_;
  const ServedModel nli = served(sequence_folder_, Head::kSequence, {"contradiction", "neutral", "entailment"});
  const ServedModel ranker = served(ranker_folder_, Head::kSequence, {"fit"});
  const ServedModel token = served(token_folder_, Head::kToken, {"O", "B-PER", "I-PER"});
  const ServedModel words = served(words_folder_, Head::kMaskedLm, {"a", "b"});
  const ServedModel extractor{.name = "m",
                              .path = extractor_folder_.path(),
                              .pipeline = test::tiny_extractor(extractor_folder_, {.hidden_size = 12, .max_width = 3}),
                              .max_client_batch = size_t{1} << 20};

  // From the bytes of a body to its plan, as a call does it (call.cpp).
  static size_t work_of(const ServedModel& model, Route route, const std::string& text) {
    blocks = 0;
    try {
      const Json json = parse_json(text, "body", {.max_bytes = SIZE_MAX, .max_depth = 64});
      Body body(json);
      route(model, body);
      static_cast<void>(body.unknown());
    } catch (const ApiError&) {  // what is refused was read as well
    } catch (const Error&) {
    }
    return blocks;
  }

  // `body` makes a body whose dimension is so large.
  static void expect_linear(const std::string& name, const ServedModel& model, Route route,
                            const std::function<std::string(size_t)>& body, size_t size = 256) {
    const size_t first = work_of(model, route, body(size)), second = work_of(model, route, body(2 * size));
    EXPECT_GT(second, first) << name << ": the dimension costs nothing: it is not read";
    EXPECT_LE(static_cast<double>(second), 2.1 * static_cast<double>(first)) << name;
  }
};

TEST_F(Work, OfKeysIsLinear) {
  const auto keys = [](size_t count) {
    return "{\"inputs\": \"a fine film\", " + numbered(count, "\"field", "\": 1") + "}";
  };
  const auto inner = [](size_t count) {
    return "{\"inputs\": \"a fine film\", \"parameters\": {" + numbered(count, "\"field", "\": 1") + "}}";
  };
  const auto long_ones = [](size_t size) { return "{\"inputs\": \"a\", \"" + std::string(size, 'k') + "\": 1}"; };
  for (const Route route : {Route(tei::predict), Route(tei::embed), Route(tei::tokenize)})
    expect_linear("keys", nli, route, keys, 1024);
  expect_linear("keys of parameters", token, hub::find_task("token-classification", ""), inner, 1024);
  expect_linear("length of a key", nli, tei::predict, long_ones, 1 << 14);
}

TEST_F(Work, OfDepthIsLinear) {
  const auto deep = [](size_t depth) {
    return "{\"inputs\": \"a\", \"x\": " + repeat("[", depth, "") + repeat("]", depth, "") + "}";
  };
  expect_linear("depth", nli, tei::predict, deep, 30);
}

TEST_F(Work, OfTextsIsLinear) {
  const auto texts = [](size_t count) { return "{\"inputs\": [" + repeat("\"a fine film\"", count) + "]}"; };
  const auto pairs = [](size_t count) { return "{\"inputs\": [" + repeat("[\"a\", \"b\"]", count) + "]}"; };
  const auto objects = [](size_t count) {
    return "{\"inputs\": [" + repeat("{\"text\": \"a\", \"text_pair\": \"b\"}", count) + "]}";
  };
  for (const Route route : {Route(tei::embed), Route(tei::embed_all), Route(tei::tokenize)})
    expect_linear("texts", nli, route, texts);
  expect_linear("pairs", nli, tei::predict, pairs);
  expect_linear("objects", nli, hub::find_task("text-classification", ""), objects);
  expect_linear("texts of entities", token, hub::find_task("token-classification", ""), texts);
  expect_linear("texts that are scored", words, hub::find_task("text-scoring", ""), texts);
  expect_linear("documents", nli, hub::find_task("zero-shot-classification", ""), [](size_t count) {
    return "{\"inputs\": [" + repeat("\"a\"", count) + "], \"parameters\": {\"candidate_labels\": [\"x\", \"y\"]}}";
  });
}

TEST_F(Work, OfPairsAndClassesIsLinear) {
  expect_linear("one text with all", ranker, vllm::score,
                [](size_t count) { return "{\"text_1\": \"a\", \"text_2\": [" + repeat("\"b\"", count) + "]}"; });
  expect_linear("pairs", ranker, vllm::score, [](size_t count) {
    return "{\"text_1\": [" + repeat("\"a\"", count) + "], \"text_2\": [" + repeat("\"b\"", count) + "]}";
  });
  expect_linear("classes", nli, vllm::classify,
                [](size_t count) { return "{\"input\": [" + repeat("\"a fine film\"", count) + "]}"; });
}

TEST_F(Work, OfLabelsAndTargetsIsLinear) {
  expect_linear("labels", nli, hub::find_task("zero-shot-classification", ""), [](size_t count) {
    return "{\"inputs\": \"a\", \"parameters\": {\"candidate_labels\": [" + numbered(count, "\"x", "\"") + "]}}";
  });
  expect_linear("labels that are ignored", token, hub::find_task("token-classification", ""), [](size_t count) {
    return "{\"inputs\": \"a\", \"parameters\": {\"ignore_labels\": [" + repeat("\"O\"", count) + "]}}";
  });
  expect_linear("targets", words, hub::find_task("fill-mask", ""), [](size_t count) {
    return "{\"inputs\": \"a [MASK]\", \"parameters\": {\"targets\": [" + numbered(count, "\"x", "\"") + "]}}";
  });
}

TEST_F(Work, OfEntitiesByOwnLabelsIsLinear) {
  const auto texts = [](size_t count) {
    return "{\"texts\": [" + repeat("\"a fine film\"", count) + "], \"labels\": [\"x\", \"y\"]}";
  };
  const auto sets = [](size_t count) {
    return "{\"texts\": [" + repeat("\"a\"", count) + "], \"labels\": [" + repeat("{\"x\": \"y\"}", count) + "]}";
  };
  const auto text = [](size_t size) {
    return "{\"text\": \"" + repeat("word", size, " ") + "\", \"labels\": [\"x\"]}";
  };
  const auto chunks = [](size_t size) {
    return "{\"text\": \"" + repeat("word", size, " ") + "\", \"labels\": [\"x\"], \"chunk_length\": 10}";
  };
  const auto placeholders = [](size_t count) {
    return "{\"text\": \"" + repeat("[A_1]", count, " ") + "\", \"map\": {\"[A_1]\": \"Ada\"}}";
  };
  expect_linear("texts", extractor, gliner::entities, texts);
  expect_linear("labels of texts", extractor, gliner::entities, sets);
  expect_linear("length", extractor, gliner::entities, text, 4096);
  expect_linear("chunks", extractor, gliner::extract, chunks, 1024);
  expect_linear("placeholders", extractor, gliner::restore, placeholders, 1024);
}

TEST_F(Work, OfTheLengthOfATextIsLinear) {
  const auto text = [](size_t size) { return "{\"inputs\": \"" + repeat("word", size, " ") + "\"}"; };
  for (const Route route : {Route(tei::predict), Route(tei::embed), Route(tei::tokenize)})
    expect_linear("length", nli, route, text, 4096);
  expect_linear("length of entities", token, hub::find_task("token-classification", ""), text, 4096);
  expect_linear(
      "masks", words, hub::find_task("fill-mask", ""),
      [](size_t count) { return "{\"inputs\": \"" + repeat("[MASK]", count, " ") + "\"}"; }, 128);
  expect_linear(
      "escapes", nli, tei::predict,
      [](size_t size) { return "{\"inputs\": \"" + repeat("\\\\u00e9", size, "") + "\"}"; }, 4096);
}

TEST_F(Work, OfIdsIsLinear) {
  const auto ids = [](size_t count) { return "{\"ids\": [" + repeat("5", count) + "]}"; };
  expect_linear("ids", nli, tei::decode, ids, 4096);
  expect_linear(
      "ids of vectors", nli, openai::embeddings,
      [](size_t count) { return "{\"input\": [" + repeat("5", count) + "]}"; }, 200);
  expect_linear("a tensor", nli, kserve::infer, [](size_t count) {
    return fmt::format(
        "{{\"inputs\": [{{\"name\": \"text\", \"datatype\": \"BYTES\", \"shape\": [{}], \"data\": [{}]}}]}}", count,
        repeat("\"a\"", count));
  });
}

}  // namespace
}  // namespace deberta::serve::work_test
