// tensors DIR [OUT]: the tensors of a checkpoint, whatever its files; with OUT the first one written to OUT.
#include <cstdio>
#include <string>

#include "deberta/checkpoint.h"
#include "deberta/config.h"

int main(int argc, char** argv) try {
  if (argc != 2 && argc != 3) {
    std::fputs("usage: tensors DIR [OUT.safetensors]\n", stderr);
    return 2;
  }
  const std::string folder = argv[1];
  std::printf("%lld layers\n",
              static_cast<long long>(deberta::load_model_config(folder + "/config.json").num_hidden_layers));
  const deberta::Checkpoint checkpoint = deberta::Checkpoint::open(folder);
  for (const deberta::TensorView& tensor : checkpoint.tensors()) {
    const std::string dtype(deberta::to_string(tensor.dtype));
    std::printf("%s\t%s\t%zu\n", tensor.name.c_str(), dtype.c_str(), tensor.count());
  }
  if (argc == 3) deberta::write_safetensors(argv[2], {checkpoint.tensors().front()}, {{"made_by", "example"}});
  return 0;
} catch (const deberta::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_code();
}
