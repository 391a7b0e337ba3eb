// Folders that hold no model: the error says what each one is and what to do, before it reports any missing file.
#include "checkpoint/folder_kind.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "deberta/checkpoint.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/problem_of.h"
#include "support/tiny_model.h"

namespace deberta::folder_kind_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n";
constexpr const char* kConfig = R"({"model_type": "deberta-v2", "vocab_size": 50})";

struct File {
  std::string name;
  std::string text = "x";
};

class FolderKind : public testing::Test {
 protected:
  std::string make(const std::vector<File>& files) {
    folder_.emplace();
    for (const File& file : files) {
      fs::create_directories(fs::path(folder_->path(file.name)).parent_path());
      test::write_text(folder_->path(file.name), file.text);
    }
    return folder_->path();
  }
  std::optional<test::TemporaryFolder> folder_;
};

TEST_F(FolderKind, IsToldByTheFilesOfOtherPrograms) {
  struct Case {
    std::vector<File> files;
    std::string message;
  };
  const File config{"config.json", kConfig};
  const std::vector<Case> cases = {
      {{config, {"model.safetensors"}, {"gliner_config.json", "{}"}}, "a GLiNER model"},
      {{{"gliner_config.json", "{}"}, {"pytorch_model.bin"}}, "find its entities with extract()"},
      {{{"model_index.json", "{}"}, {"unet/config.json", "{}"}}, "a diffusers pipeline"},
      {{{"config.cfg"}, {"meta.json", "{}"}}, "a spaCy pipeline"},
      {{{"task.json", "{}"}, {"config.json", R"({"module": "keras_hub.src.models"})"}}, "a Keras preset (keras_hub)"},
      {{{"config.json", R"({"module": "keras_nlp.models"})"}, {"model.weights.h5"}}, "a Keras preset (keras_hub)"},
      {{{"model.weights.h5"}}, "a Keras model; download the transformers files"},
      {{config, {"tf_model.h5"}}, "a TensorFlow model; download the transformers files"},
      {{config, {"flax_model.msgpack"}}, "a Flax model"},
      {{config, {"openvino_model.xml"}, {"openvino_model.bin"}}, "an OpenVINO model"},
      {{config, {"deberta.Q4_K.gguf"}}, "a GGUF model"},
      {{config, {"model_quantized.onnx"}}, "an ONNX model"},
      {{config, {"onnx/model.onnx"}}, "an ONNX model"},
      {{config, {"optimizer.pt"}, {"scheduler.pt"}}, "the state of a training run without the weights"},
      {{config, {"zero_to_fp32.py"}, {"global_step5/x"}}, "run its zero_to_fp32.py"},
      {{config, {"adapter_model.safetensors"}}, "weights of a peft adapter without their adapter_config.json"},
      {{config, {"weights-v2.safetensors"}},
       "weights named weights-v2.safetensors; if these are the "
       "model's weights, rename them to model.safetensors"},
      {{config, {"model.pt"}, {"training_args.bin"}}, "rename them to pytorch_model.bin"},
      {{{"tokenizer_config.json", "{}"}, {"spm.model"}}, "a tokenizer without a model"},
      {{{"config.json", R"({"model_type": "bert"})"}, {"model.safetensors"}}, "a model of type bert"},
      {{{"config.json", R"({"model_type": "deberta", "quantization_config": {"quant_method": "gptq"}})"},
        {"model.safetensors"}},
       "weights quantised by gptq"},
      {{{"config.json", R"({"model_type": "deberta", "quantization_config": {"load_in_8bit": true}})"}},
       "weights quantised by bitsandbytes"},
      {{{"checkpoint-90/config.json", kConfig}, {"checkpoint-500/config.json", kConfig}, {"checkpoint-x/a"}},
       "a folder of training checkpoints; give one of them; the newest is "},
      {{{"refs/main"}, {"snapshots/abc/config.json", kConfig}}, "a folder of the hub cache"},
      {{{"base/config.json", kConfig},
        {"base/model.safetensors"},
        {"large/config.json", kConfig},
        {"large/pytorch_model.bin"},
        {"1_Pooling/config.json", "{}"}},
       "a folder of models: base, large; give"},
      {{{"checkpoint-90/generator/config.json", kConfig},
        {"generator/config.json", kConfig},
        {"generator/model.safetensors"},
        {"trainer_state.json", "{}"},
        {"checkpoint-90/config.json", kConfig},
        {"checkpoint-90/model.safetensors"}},
       "a folder of models: generator; give"},
      {{}, "an empty folder"},
  };
  for (const Case& test_case : cases) {
    SCOPED_TRACE(test_case.message);
    EXPECT_ERROR(check_folder_kind(make(test_case.files), FolderUse::kModel), kFolder, test_case.message);
    EXPECT_NO_THROW(check_folder_kind(folder_->path(), FolderUse::kTokenizer));
  }
}

TEST_F(FolderKind, TheWeightsOfAGlinerModelAreThose) {
  EXPECT_NO_THROW(check_folder_kind(make({{"gliner_config.json", "{}"}, {"pytorch_model.bin"}}), FolderUse::kWeights));
  const File other{"config.json", R"({"model_type": "gliner"})"};
  EXPECT_NO_THROW(
      check_folder_kind(make({other, {"gliner_config.json", "{}"}, {"model.safetensors"}}), FolderUse::kWeights));
  EXPECT_ERROR(check_folder_kind(make({{"gliner_config.json", kPointer}, {"model.safetensors"}}), FolderUse::kWeights),
               kFolder, "git-lfs pointers instead of gliner_config.json");
  EXPECT_ERROR(check_folder_kind(make({other, {"model.safetensors"}}), FolderUse::kWeights), kFolder,
               "a model of type gliner");
}

TEST_F(FolderKind, NamesTheNewestCheckpointByItsNumber) {
  const std::string path = make({{"checkpoint-90/a"}, {"checkpoint-500/a"}, {"checkpoint-last/a"}});
  EXPECT_ERROR(check_folder_kind(path, FolderUse::kModel), kFolder, "the newest is " + path + "/checkpoint-500");
}

TEST_F(FolderKind, NamesTheModelOfAnAdapterAndItsKind) {
  const std::string path =
      make({{"adapter_config.json", R"({"peft_type": "LORA", "base_model_name_or_path": "a/b"})"}});
  EXPECT_ERROR(check_folder_kind(path, FolderUse::kModel), kFolder, "a peft adapter (LORA) for a/b; merge it");
  EXPECT_EQ(test::problem_of([&] { check_folder_kind(path, FolderUse::kModel); }).remedies.at(0).value, path);
  EXPECT_ERROR(check_folder_kind(make({{"adapter_config.json", R"({"peft_type": "IA3"})"}}), FolderUse::kModel),
               kFolder, "a peft adapter (IA3) for an unnamed model; only LORA can be merged here");
  EXPECT_ERROR(check_folder_kind(make({{"adapter_config.json", R"({"config": {}})"}}), FolderUse::kModel), kFolder,
               "an adapter of the adapters library");
}

// transformers loads the adapter's base model, not the weights beside it.
TEST_F(FolderKind, AnAdapterBesideWeightsIsAnAdapter) {
  const std::string path =
      make({{"config.json", kConfig}, {"model.safetensors"}, {"adapter_config.json", R"({"peft_type": "LORA"})"}});
  EXPECT_ERROR(Checkpoint::open(path), kFolder, "a peft adapter (LORA)");
}

TEST_F(FolderKind, PointersOfGitLfsAreNamedWhereTheyAreNeeded) {
  EXPECT_ERROR(check_folder_kind(make({{"config.json", kConfig}, {"model.safetensors", kPointer}}), FolderUse::kModel),
               kFolder, "got git-lfs pointers instead of model.safetensors; download it with git lfs pull");
  EXPECT_NO_THROW(check_folder_kind(folder_->path(), FolderUse::kTokenizer));
  EXPECT_ERROR(check_folder_kind(make({{"config.json", kConfig},
                                       {"pytorch_model.bin.index.json", "{}"},
                                       {"pytorch_model-00001-of-00002.bin", kPointer},
                                       {"pytorch_model-00002-of-00002.bin", kPointer}}),
                                 FolderUse::kModel),
               kFolder,
               "pytorch_model-00001-of-00002.bin, pytorch_model-00002-of-00002.bin; download them with git lfs");
  EXPECT_ERROR(check_folder_kind(make({{"spm.model", kPointer}, {"tokenizer.json", kPointer}}), FolderUse::kTokenizer),
               kFolder, "spm.model, tokenizer.json");
  // A file that nothing needs may be a pointer.
  EXPECT_NO_THROW(check_folder_kind(
      make({{"config.json", kConfig}, {"model.safetensors"}, {"pytorch_model.bin", kPointer}}), FolderUse::kModel));
  EXPECT_NO_THROW(check_folder_kind(make({{"spm.model", kPointer}, {"tokenizer.json", "{}"}}), FolderUse::kTokenizer));
}

TEST_F(FolderKind, TheTokenizerOfKerasIsNotThatOfTransformers) {
  const std::string path =
      make({{"tokenizer.json", R"({"module": "keras_hub.src.models.deberta_v3.deberta_v3_tokenizer"})"}});
  EXPECT_ERROR(check_folder_kind(path, FolderUse::kTokenizer), kFolder,
               "a Keras preset (keras_hub), by its tokenizer.json");
}

TEST_F(FolderKind, OfAModelAndOfAnUnknownFolderNothingIsSaid) {
  const test::TemporaryFolder folder;
  test::write_tiny_model(folder.path(), test::tiny_config());
  EXPECT_NO_THROW(check_folder_kind(folder.path(), FolderUse::kModel));
  for (const char* name : {"optimizer.pt", "model.onnx", "tf_model.h5", "rust_model.ot", "trainer_state.json"})
    test::write_text(folder.path(name), "x");  // beside weights they do not matter
  EXPECT_NO_THROW(check_folder_kind(folder.path(), FolderUse::kModel));
  EXPECT_NO_THROW(check_folder_kind(make({{"notes.txt"}}), FolderUse::kModel));
  EXPECT_NO_THROW(check_folder_kind(make({{"config.json", "{broken"}}), FolderUse::kModel));
}

}  // namespace
}  // namespace deberta::folder_kind_test
