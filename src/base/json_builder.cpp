// Keeps a stack of open arrays and objects, and counts depth, nodes and members as the parser reports them.
#include "base/json_builder.h"

#include <fmt/format.h>

#include <utility>

#include "deberta/error.h"

namespace deberta {

void JsonBuilder::refuse(std::string message) const {
  throw Error(ErrorCode::kJson, std::string(where_), std::move(message));
}

Json* JsonBuilder::place(Json value) {
  if (++nodes_ > limits_.max_nodes) refuse(fmt::format("expected at most {} values", limits_.max_nodes));
  if (open_.empty()) return &(root_ = std::move(value));
  if (open_.back()->is_array()) return &open_.back()->as_array().emplace_back(std::move(value));
  return &(open_.back()->as_object()[member_].second = std::move(value));
}

void JsonBuilder::open(Json value) {
  if (open_.size() >= limits_.max_depth) refuse(fmt::format("expected at most {} nested levels", limits_.max_depth));
  open_.push_back(place(std::move(value)));
}

void JsonBuilder::open_object() {
  open(JsonObject{});
  members_.emplace_back();
}

// A repeated name keeps its first place, as in a Python dict.
void JsonBuilder::key(std::string name) {
  JsonObject& object = open_.back()->as_object();
  const auto [at, is_new] = members_.back().emplace(name, object.size());
  member_ = at->second;
  if (is_new) {
    if (object.size() >= limits_.max_members)
      refuse(fmt::format("expected at most {} keys in an object", limits_.max_members));
    object.emplace_back(std::move(name), Json());
  } else if (repeated_key_ == RepeatedKey::kRefused) {
    refuse(fmt::format("key {} appears twice", quote_json(name)));
  } else {
    repeated_keys_.push_back(std::move(name));
  }
}

void JsonBuilder::close() {
  if (open_.back()->is_object()) members_.pop_back();
  open_.pop_back();
}

}  // namespace deberta
