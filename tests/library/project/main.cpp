// outside WHAT DIR [TEXT...]: what a program that links the library sees, one line of output for each thing.
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "deberta/deberta.h"

namespace {

using Inputs = std::vector<deberta::TextInput>;

void print(std::string_view name, float value) {
  std::printf("%.*s %a\n", static_cast<int>(name.size()), name.data(), static_cast<double>(value));
}

// Scores as hexadecimal floats, so that no bit is lost.
void classify(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  for (const deberta::SequenceAnswer& answer : deberta::classify(pipeline, inputs))
    print(answer.labels.front().label, answer.labels.front().score);
}

void nli(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  const std::vector<deberta::TextInput> pairs{{inputs.at(0).text, inputs.at(1).text}};
  const std::vector<deberta::EntailmentAnswer> answers = deberta::nli(pipeline, pairs);
  for (const deberta::LabelScore& relation : answers.front().relations) print(relation.label, relation.score);
}

void ner(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  for (const deberta::TokenAnswer& answer : deberta::ner(pipeline, inputs)) {
    for (const deberta::Entity& entity : answer.entities)
      print(entity.label + " " + std::to_string(entity.chars.begin) + " " + std::to_string(entity.chars.end),
            entity.score);
  }
}

void fill(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  for (const deberta::FillAnswer& answer : deberta::fill(pipeline, inputs)) {
    for (const deberta::FilledToken& token : answer.masks.at(0).tokens) print(std::to_string(token.token), token.score);
  }
}

void embed(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  for (const deberta::EmbeddingAnswer& answer : deberta::embed(pipeline, inputs)) {
    for (const float value : answer.vectors) print("value", value);
  }
}

void detect(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  for (const deberta::ReplacedAnswer& answer : deberta::detect(pipeline, inputs)) {
    for (const deberta::ReplacedToken& piece : answer.pieces) print(std::to_string(piece.token), piece.score);
  }
}

// The texts from `first` on, as a list of their own.
std::vector<std::string> items_of(const Inputs& inputs, size_t first) {
  std::vector<std::string> items;
  for (size_t i = first; i < inputs.size(); ++i) items.emplace_back(inputs[i].text);
  return items;
}

void zero_shot(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  deberta::ZeroShotOptions options;
  options.labels = items_of(inputs, 1);
  const std::vector<deberta::ZeroShotAnswer> answers = deberta::zero_shot(pipeline, {inputs.data(), 1}, options);
  for (const deberta::LabelScore& label : answers.front().labels) print(label.label, label.score);
}

void rerank(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  const std::vector<std::string> documents = items_of(inputs, 1);
  const std::vector<deberta::TextInput> queries{{inputs.at(0).text, {}, documents}};
  const std::vector<deberta::RankAnswer> answers = deberta::rerank(pipeline, queries);
  for (const deberta::RankedDocument& document : answers.front().documents)
    print(std::to_string(document.index), document.score);
}

void choose(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  const std::vector<std::string> choices = items_of(inputs, 2);
  const std::vector<deberta::TextInput> questions{{inputs.at(0).text, inputs.at(1).text, choices}};
  const std::vector<deberta::ChoiceAnswer> answers = deberta::choose(pipeline, questions);
  for (const float score : answers.front().scores) print(std::to_string(answers.front().index), score);
}

void qa(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  const std::vector<deberta::TextInput> questions{{inputs.at(0).text, inputs.at(1).text}};
  const std::vector<deberta::QuestionAnswer> answers = deberta::qa(pipeline, questions);
  for (const deberta::SpanAnswer& answer : answers.front().answers)
    print(answer.text + " " + std::to_string(answer.chars.begin), answer.score);
}

void score(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  for (const deberta::TextScoreAnswer& answer : deberta::score_text(pipeline, inputs)) {
    for (const deberta::TextScoreAnswer::Token& piece : answer.pieces)
      print(std::to_string(piece.token), piece.log_probability);
  }
}

// Four threads, one directory, the same question many times: all answers must equal the first one.
void threads(const deberta::Pipeline& pipeline, const Inputs& inputs) {
  const float expected = deberta::classify(pipeline, inputs).front().labels.front().score;
  std::vector<int> same(4, 0);
  std::vector<std::thread> pool;
  for (int& count : same) {
    pool.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        const float score = deberta::classify(pipeline, inputs).front().labels.front().score;
        if (std::memcmp(&score, &expected, sizeof score) == 0) ++count;
      }
    });
  }
  for (std::thread& thread : pool) thread.join();
  for (const int count : same) std::printf("same %d\n", count);
}

struct Task {
  std::string_view name;
  void (*run)(const deberta::Pipeline&, const Inputs&);
};
constexpr Task kTasks[] = {{"classify", classify}, {"nli", nli},       {"zero-shot", zero_shot},
                           {"ner", ner},           {"qa", qa},         {"choose", choose},
                           {"rerank", rerank},     {"fill", fill},     {"score", score},
                           {"embed", embed},       {"detect", detect}, {"threads", threads}};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::printf("version %.*s\n", static_cast<int>(deberta::version().size()), deberta::version().data());
  int warnings = 0;
  deberta::set_warning_sink([](void* count, std::string_view) { ++*static_cast<int*>(count); }, &warnings);
  try {
    const deberta::Pipeline pipeline = deberta::open_pipeline(argv[2]);
    Inputs inputs;
    for (char** text = argv + 3; *text != nullptr; ++text) inputs.push_back({*text});
    for (const Task& task : kTasks) {
      if (task.name == argv[1]) task.run(pipeline, inputs);
    }
  } catch (const deberta::Error& error) {
    const deberta::ErrorCodeInfo& info = deberta::error_code_info(error.code());
    std::printf("code %.*s\nwhere %s\nmessage %s\n", static_cast<int>(info.name.size()), info.name.data(),
                error.where().c_str(), error.message().c_str());
    return 3;
  } catch (const std::exception& error) {
    std::printf("not an Error: %s\n", error.what());
    return 4;
  }
  return 0;
}
