// A table of torch classes, each under the path that a configuration gives it.
#include "config/score_activation.h"

#include <array>

namespace deberta {
namespace {

struct Row {
  std::string_view path, name;
};
constexpr std::array kRows = {
    Row{"torch.nn.modules.linear.Identity", "Identity"},
    Row{"torch.nn.modules.activation.Sigmoid", "Sigmoid"},
    Row{"torch.nn.modules.activation.Tanh", "Tanh"},
    Row{"torch.nn.modules.activation.Softmax", "Softmax"},
    Row{"torch.nn.Identity", "Identity"},
    Row{"torch.nn.Sigmoid", "Sigmoid"},
    Row{"torch.nn.Tanh", "Tanh"},
    Row{"torch.nn.Softmax", "Softmax"},
    Row{"Identity", "Identity"},
    Row{"Sigmoid", "Sigmoid"},
    Row{"Tanh", "Tanh"},
};

}  // namespace

std::optional<std::string> find_score_activation(std::string_view path) {
  for (const Row& row : kRows) {
    if (row.path == path) return std::string(row.name);
  }
  if (path.starts_with("torch.")) return std::string(path);
  return std::nullopt;
}

}  // namespace deberta
