#include "text/text_order.h"

#include <algorithm>

namespace deberta {
namespace {

constexpr size_t kPrefixBytes = 8;

struct Entry {
  uint64_t prefix;  // big endian, filled with zeros
  uint32_t index;
};

uint64_t prefix_of(std::string_view text) {
  uint64_t prefix = 0;
  for (size_t i = 0; i < kPrefixBytes; ++i)
    prefix = prefix << 8 | (i < text.size() ? static_cast<uint8_t>(text[i]) : 0U);
  return prefix;
}

}  // namespace

std::vector<uint32_t> text_order(std::span<const std::string_view> texts) {
  std::vector<Entry> entries;
  entries.reserve(texts.size());
  for (uint32_t i = 0; i < texts.size(); ++i) entries.push_back({prefix_of(texts[i]), i});
  std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = texts[a.index].compare(texts[b.index]);
    return order != 0 ? order < 0 : a.index < b.index;
  });
  std::vector<uint32_t> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(entry.index);
  return order;
}

}  // namespace deberta
