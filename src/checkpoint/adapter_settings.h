// adapter_config.json of peft, as far as it affects the merged weights.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deberta/checkpoint.h"

namespace deberta {

// Beside adapters of our own: {"name", "sha256"} of the model that it was trained on (hash_of_base()).
constexpr const char* kAdapterBaseName = "base_model.json";

struct AdapterBase {
  std::string name;  // as the user wrote it
  std::string sha256;
};
// Nothing where the folder does not say. Throws kConfig, and what reading throws.
std::optional<AdapterBase> load_adapter_base(const std::string& folder);

// SHA-256 of matrices that an adapter adds to: their names and numbers in fp32, whatever their type and order.
std::string hash_of_base(std::vector<TensorView> matrices);

struct AdapterSettings {
  std::string base_model;  // as the file names it; for messages
  std::string task_type;   // "SEQ_CLS", ... or empty
  double alpha = 0;
  bool is_rank_stabilised = false;
  std::vector<std::pair<std::string, double>> alpha_pattern;  // module, its own alpha

  // The factor of B A in the module of that name (as in the adapter) with matrices of rank `rank`.
  double scale(std::string_view module, size_t rank) const;
};

// Throw kFolder for another kind of adapter, kConfig, kUnsupported (all unsupported settings), kJson;
// what reading a file throws. `where` opens each message.
AdapterSettings parse_adapter_settings(std::string_view text, const std::string& where);
AdapterSettings load_adapter_settings(const std::string& folder);

}  // namespace deberta
