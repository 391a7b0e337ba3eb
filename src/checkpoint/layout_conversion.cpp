// in_proj is [H, 3, K, D]: for each head first its rows of q, then k, then v.
// D hidden  H heads  K head size
#include "checkpoint/layout_conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "deberta/error.h"

namespace deberta {
namespace {

constexpr std::string_view kSelf = ".attention.self.";
constexpr std::string_view kInProj = "in_proj.weight";
constexpr std::array<std::string_view, 3> kParts = {"query_proj.weight", "key_proj.weight", "value_proj.weight"};

struct Renamed {
  std::string_view v1, v2;
};
constexpr std::array kRenamed = {
    Renamed{"q_bias", "query_proj.bias"},
    Renamed{"v_bias", "value_proj.bias"},
    Renamed{"pos_proj.weight", "pos_key_proj.weight"},
    Renamed{"pos_q_proj.weight", "pos_query_proj.weight"},
    Renamed{"pos_q_proj.bias", "pos_query_proj.bias"},
};

// Biases that version 1 lacks: zeros, with the type of another tensor of the layer.
struct ZeroBias {
  std::string_view v2, typed_as_v1;
};
constexpr std::array kZeroBiases = {
    ZeroBias{"key_proj.bias", "q_bias"},
    ZeroBias{"pos_key_proj.bias", "pos_proj.weight"},
};

std::string self_of(int64_t layer) {
  return fmt::format("encoder.layer.{}{}", layer, kSelf);
}

bool is_zero(const TensorView& tensor) {
  return std::all_of(tensor.bytes.begin(), tensor.bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// What all steps of one plan share.
class LayoutPlan {
 public:
  LayoutPlan(const Checkpoint& checkpoint, const ModelConfig& config, Conversion& conversion)
      : checkpoint_(checkpoint),
        heads_(static_cast<size_t>(config.num_attention_heads)),
        head_size_(static_cast<size_t>(config.attention_head_size)),
        conversion_(conversion) {}

  void split(const std::string& self);
  void join(const std::string& self);
  void rename(const std::string& self, Layout layout);
  void make_zeros(const std::string& self);
  void drop_zeros(const std::string& self);

 private:
  const TensorView* find(const std::string& name) const { return checkpoint_.find(name); }
  void add(const std::string& name, DType dtype, Shape shape, std::vector<Bytes> runs) {
    conversion_.tensors.push_back({{}, name, dtype, dtype, std::move(shape), std::move(runs)});
  }
  void report(const TensorView& tensor, std::string_view change, std::string detail) {
    conversion_.changes.push_back(
        {std::string(checkpoint_.stored_name(tensor.name)), std::string(change), std::move(detail)});
  }

  const Checkpoint& checkpoint_;
  size_t heads_, head_size_;
  Conversion& conversion_;
};

void LayoutPlan::split(const std::string& self) {
  const TensorView& fused = *find(fmt::format("{}{}", self, kInProj));
  const size_t head_bytes = fused.bytes.size() / (3 * heads_);
  for (size_t part = 0; part < kParts.size(); ++part) {
    std::vector<Bytes> runs;
    for (size_t head = 0; head < heads_; ++head)
      runs.push_back(fused.bytes.subspan((3 * head + part) * head_bytes, head_bytes));
    add(fmt::format("{}{}", self, kParts[part]), fused.dtype, {fused.shape[0] / 3, fused.shape[1]}, std::move(runs));
  }
  report(fused, "split", fmt::format("{}, {}, {}", kParts[0], kParts[1], kParts[2]));
}

void LayoutPlan::join(const std::string& self) {
  std::array<const TensorView*, 3> parts{};
  for (size_t part = 0; part < parts.size(); ++part) parts[part] = find(fmt::format("{}{}", self, kParts[part]));
  const TensorView& first = *parts[0];
  for (const TensorView* part : parts) {
    if (part->dtype != first.dtype)
      throw Error(ErrorCode::kUnsupported,
                  {{.where = self + "*",
                    .message = fmt::format("expected query, key and value of one type, got {} and {}",
                                           to_string(first.dtype), to_string(part->dtype)),
                    .remedies = {{"cast them first ({})", "dtype"}}}});
  }
  const size_t head_bytes = first.bytes.size() / heads_;
  std::vector<Bytes> runs;
  for (size_t head = 0; head < heads_; ++head) {
    for (const TensorView* part : parts) runs.push_back(part->bytes.subspan(head * head_bytes, head_bytes));
  }
  add(fmt::format("{}{}", self, kInProj), first.dtype, {3 * first.shape[0], first.shape[1]}, std::move(runs));
  for (const TensorView* part : parts) report(*part, "joined", std::string(kInProj));
}

void LayoutPlan::rename(const std::string& self, Layout layout) {
  for (const Renamed& row : kRenamed) {
    const bool is_to_v2 = layout == Layout::kV2;
    const TensorView* tensor = find(fmt::format("{}{}", self, is_to_v2 ? row.v1 : row.v2));
    if (tensor == nullptr) continue;
    add(fmt::format("{}{}", self, is_to_v2 ? row.v2 : row.v1), tensor->dtype, tensor->shape, {tensor->bytes});
    report(*tensor, "renamed", std::string(is_to_v2 ? row.v2 : row.v1));
  }
}

void LayoutPlan::make_zeros(const std::string& self) {
  for (const ZeroBias& row : kZeroBiases) {
    const TensorView* typed_as = find(fmt::format("{}{}", self, row.typed_as_v1));
    if (typed_as == nullptr) continue;
    const size_t count = heads_ * head_size_;
    conversion_.new_bytes.push_back(std::make_shared<std::vector<std::byte>>(count * size_of(typed_as->dtype)));
    const std::string name = fmt::format("{}{}", self, row.v2);
    add(name, typed_as->dtype, {static_cast<int64_t>(count)}, {Bytes(*conversion_.new_bytes.back())});
    conversion_.changes.push_back({name, "made", "zeros: version 1 has no such bias"});
  }
}

void LayoutPlan::drop_zeros(const std::string& self) {
  for (const ZeroBias& row : kZeroBiases) {
    const TensorView* bias = find(fmt::format("{}{}", self, row.v2));
    if (bias != nullptr) report(*bias, "dropped", "zeros: version 1 has no such bias");
  }
}

void find_bias_obstacles(const Checkpoint& checkpoint, const ModelConfig& config, std::vector<std::string>& reasons) {
  std::string names;
  for (int64_t n = 0; n < config.num_hidden_layers; ++n) {
    for (const ZeroBias& row : kZeroBiases) {
      const TensorView* bias = checkpoint.find(fmt::format("{}{}", self_of(n), row.v2));
      if (bias != nullptr && !is_zero(*bias)) names += (names.empty() ? "" : ", ") + bias->name;
    }
  }
  if (!names.empty()) reasons.push_back(fmt::format("it has no key bias, but these are not zero: {}", names));
}

}  // namespace

std::vector<Problem> find_layout_obstacles(const Checkpoint& checkpoint, const ModelConfig& config, Layout layout,
                                           const std::string& where) {
  std::vector<std::string> reasons;
  if (layout == Layout::kV2) {
    if (config.talking_head) reasons.push_back("it has no talking heads, but talking_head is true");
  } else {
    if (config.extraction) reasons.push_back("a GLiNER model has an encoder of version 2");
    if (config.relative_attention && config.share_att_key)
      reasons.push_back("it has separate projections for relative positions, but share_att_key is true");
    if (config.has_rel_layer_norm)
      reasons.push_back("it has no norm for the relative table, but norm_rel_ebd requires it");
    if (config.position_buckets > 0)
      reasons.push_back(fmt::format("it has no buckets, but position_buckets is {}", config.position_buckets));
    if (config.conv_kernel_size > 0)
      reasons.push_back(fmt::format("it has no convolution, but conv_kernel_size is {}", config.conv_kernel_size));
    find_bias_obstacles(checkpoint, config, reasons);
  }
  std::vector<Problem> problems;
  problems.reserve(reasons.size());
  for (const std::string& reason : reasons)
    problems.push_back({where, fmt::format("the layout of version {} cannot hold this model: {}",
                                           layout == Layout::kV1 ? 1 : 2, reason)});
  return problems;
}

void plan_layout(const Checkpoint& checkpoint, const ModelConfig& config, Layout layout, Conversion& conversion) {
  LayoutPlan plan(checkpoint, config, conversion);
  for (int64_t n = 0; n < config.num_hidden_layers; ++n) {
    const std::string self = self_of(n);
    if (layout == Layout::kV2) {
      plan.split(self);
      plan.make_zeros(self);
    } else {
      plan.join(self);
      plan.drop_zeros(self);
    }
    plan.rename(self, layout);
  }
}

bool is_of_layout(const std::string& canonical_name) {
  const size_t at = canonical_name.find(kSelf);
  if (at == std::string::npos) return false;
  const std::string_view ending = std::string_view(canonical_name).substr(at + kSelf.size());
  const auto is_row = [&](const auto& row) { return ending == row.v1 || ending == row.v2; };
  return ending == kInProj || std::find(kParts.begin(), kParts.end(), ending) != kParts.end() ||
         std::any_of(kRenamed.begin(), kRenamed.end(), is_row) ||
         std::any_of(kZeroBiases.begin(), kZeroBiases.end(), [&](const ZeroBias& row) { return ending == row.v2; });
}

}  // namespace deberta
