// A unit of the table: bits 0..7 and 31 the label, bit 8 "a value hangs here", bits 10..30 the distance to the children
// (shifted left by 8 when bit 9 is set). The value of a node is the unit at its children's base, bit 31 set.
#include "text/spm/charsmap.h"

#include <fmt/format.h>

#include "base/checked.h"
#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr uint32_t kLabelMask = 0x800000FF;
constexpr uint32_t kBlockUnits = 256;
constexpr uint32_t kNone = UINT32_MAX;
// Real rules have keys of at most about 20 bytes. The limits bound the work of one look-up and the growth of a text.
constexpr size_t kMaxKeyBytes = 256;
constexpr size_t kMaxGrowth = 64;

uint32_t label_of(uint32_t unit) {
  return unit & kLabelMask;
}
bool has_value(uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
uint32_t distance_of(uint32_t unit) {
  return (unit >> 10) << ((unit & 0x200) >> 6);
}
uint32_t value_of(uint32_t unit) {
  return unit & 0x7FFFFFFF;
}

bool is_border(std::string_view text, size_t position) {
  return position >= text.size() || (static_cast<uint8_t>(text[position]) & 0xC0) != 0x80;
}

// Units by the base that they are children of, so that a walk visits only children, not 255 guesses per node.
struct ChildLists {
  std::vector<uint32_t> first, next;

  explicit ChildLists(const std::vector<uint32_t>& units) : first(units.size(), kNone), next(units.size(), kNone) {
    for (uint32_t i = static_cast<uint32_t>(units.size()); i-- > 0;) {
      const uint32_t label = label_of(units[i]);
      if (label == 0 || label > 0xFF) continue;  // a value, or nothing: no rule contains NUL
      next[i] = first[i ^ label];
      first[i ^ label] = i;
    }
  }
};

}  // namespace

Charsmap::Charsmap(std::string_view blob, const std::string& where) {
  const auto refuse = [&](const std::string& message) {
    throw Error(ErrorCode::kTokenizerFile, where, "precompiled_charsmap: " + message);
  };
  Reader reader(to_bytes(blob));
  const auto size_bytes = reader.take_little_endian(4);
  if (!size_bytes) refuse(fmt::format("expected at least 4 bytes, got {}", blob.size()));
  if (*size_bytes == 0 || *size_bytes % (size_t{kBlockUnits} * 4) != 0) {
    refuse(fmt::format("expected a table of a multiple of {} bytes, got {}", kBlockUnits * 4, *size_bytes));
  }
  const size_t left = reader.left();
  const auto table = reader.take(*size_bytes);
  if (!table) refuse(fmt::format("a table of {} bytes, but {} bytes are left", *size_bytes, left));
  Reader units(*table);
  units_.reserve(table->size() / 4);
  while (const auto unit = units.take_little_endian(4)) units_.push_back(static_cast<uint32_t>(*unit));
  replacements_ = to_text(*reader.take(reader.left()));
  if (replacements_.empty() || replacements_.back() != '\0') refuse("expected replacements that end with NUL");
  check(where);
  find_touched();
}

// Visits every node that a look-up can reach, once, nearest first. Nodes may share children, so the depth kept is the
// smallest; that is the key length for which a replacement is relatively longest.
void Charsmap::check(const std::string& where) const {
  const auto refuse = [&](uint32_t node, const std::string& message) {
    throw Error(ErrorCode::kTokenizerFile, where, fmt::format("precompiled_charsmap: unit {}: {}", node, message));
  };
  struct Visit {
    uint32_t node, depth;
  };
  const ChildLists children(units_);
  std::vector<bool> is_visited(units_.size(), false);
  std::vector<Visit> queue{{0, 0}};
  is_visited[0] = true;
  for (size_t head = 0; head < queue.size(); ++head) {
    const auto [node, depth] = queue[head];
    if (depth > kMaxKeyBytes) refuse(node, fmt::format("expected keys of at most {} bytes", kMaxKeyBytes));
    const uint32_t base = node ^ distance_of(units_[node]);
    if (base >= units_.size())
      refuse(node, fmt::format("its children would be at {}, the table has {} units", base, units_.size()));
    if (has_value(units_[node])) {
      const uint32_t at = value_of(units_[base]);
      if (at >= replacements_.size())
        refuse(node, fmt::format("replacement at {}, there are {} bytes", at, replacements_.size()));
      const size_t limit = kMaxGrowth * depth;
      const std::string_view tail = std::string_view(replacements_).substr(at, limit + 1);
      const size_t end = tail.find('\0');
      if (end == std::string_view::npos) refuse(node, fmt::format("expected a replacement of at most {} bytes", limit));
      if (!is_valid_utf8(tail.substr(0, end))) refuse(node, "expected a replacement of valid UTF-8");
    }
    for (uint32_t child = children.first[base]; child != kNone; child = children.next[child]) {
      if (is_visited[child]) continue;
      is_visited[child] = true;
      queue.push_back({child, depth + 1});
    }
  }
}

void Charsmap::find_touched() {
  const uint32_t base = distance_of(units_[0]);
  for (uint32_t byte = 1; byte < 128; ++byte) {
    const uint32_t node = base ^ byte;
    if (label_of(units_[node]) != byte) continue;
    touched_[byte] = has_value(units_[node]);
    const uint32_t child_base = node ^ distance_of(units_[node]);
    for (uint32_t next = 1; next < 128 && !touched_[byte]; ++next) {
      touched_[byte] = label_of(units_[child_base ^ next]) == next;
    }
  }
}

Charsmap::Match Charsmap::longest_prefix(std::string_view text) const {
  Match best;
  if (units_.empty()) return best;
  const size_t limit = std::min(text.size(), kMaxKeyBytes);
  uint32_t base = distance_of(units_[0]);
  uint32_t value = 0;
  for (size_t i = 0; i < limit; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    const uint32_t node = base ^ byte;
    if (byte == 0 || label_of(units_[node]) != byte) break;
    base = node ^ distance_of(units_[node]);
    if (has_value(units_[node]) && is_border(text, i + 1)) {
      best.size_bytes = i + 1;
      value = value_of(units_[base]);
    }
  }
  if (best.size_bytes > 0) best.replacement = std::string_view(replacements_.data() + value);
  return best;
}

std::optional<std::string_view> Charsmap::shortest_prefix(std::string_view text) const {
  if (units_.empty()) return std::nullopt;
  uint32_t base = distance_of(units_[0]);
  for (const char c : text.substr(0, kMaxKeyBytes)) {
    const auto byte = static_cast<uint8_t>(c);
    const uint32_t node = base ^ byte;
    if (byte == 0 || label_of(units_[node]) != byte) break;
    base = node ^ distance_of(units_[node]);
    if (has_value(units_[node])) return std::string_view(replacements_.data() + value_of(units_[base]));
  }
  return std::nullopt;
}

}  // namespace deberta
