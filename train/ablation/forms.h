// The ablations of the papers and the models before DeBERTa, as options of this trainer.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace deberta::train {

struct Form {
  std::string_view name;       // "-C2P"
  std::string_view overrides;  // changes of config.json: "pos_att_type=p2c,..."
  std::string_view options;    // options of pretrain as JSON: R"({"decoder-passes": 0})"; empty: none
  std::string_view about;      // what it is, and where it differs from what it is named for
  std::string_view refusal;    // not empty: why there is no such form here
};

std::span<const Form> all_forms();
const Form* find_form(std::string_view name);  // nullptr for none

}  // namespace deberta::train
