// A radix sort on the first eight bytes, then a comparison sort among texts that share them.
#include "text/text_order.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace deberta {
namespace {

constexpr size_t kPrefixBytes = 8;

struct Entry {
  uint64_t prefix;  // big endian, filled with zeros
  uint32_t index;
};

uint64_t prefix_of(std::string_view text) {
  uint64_t prefix = 0;
  const size_t size = std::min(text.size(), kPrefixBytes);
  for (size_t i = 0; i < size; ++i) prefix |= uint64_t{static_cast<uint8_t>(text[i])} << (56 - 8 * i);
  return prefix;
}

// By prefix, byte by byte from the last one (LSD radix sort); entries with one prefix keep their order.
void sort_by_prefix(std::vector<Entry>& entries) {
  const auto digit = [](const Entry& entry, size_t byte) { return static_cast<uint8_t>(entry.prefix >> (8 * byte)); };
  std::array<std::array<uint32_t, 256>, kPrefixBytes> counts{};
  for (const Entry& entry : entries) {
    for (size_t byte = 0; byte < kPrefixBytes; ++byte) ++counts[byte][digit(entry, byte)];
  }
  std::vector<Entry> sorted(entries.size());
  for (size_t byte = 0; byte < kPrefixBytes; ++byte) {
    std::array<uint32_t, 256> at{};
    std::exclusive_scan(counts[byte].begin(), counts[byte].end(), at.begin(), 0U);
    for (const Entry& entry : entries) sorted[at[digit(entry, byte)]++] = entry;
    entries.swap(sorted);
  }
}

}  // namespace

std::vector<uint32_t> text_order(std::span<const std::string_view> texts) {
  std::vector<Entry> entries;
  entries.reserve(texts.size());
  for (uint32_t i = 0; i < texts.size(); ++i) entries.push_back({prefix_of(texts[i]), i});
  sort_by_prefix(entries);
  for (auto begin = entries.begin(); begin != entries.end();) {
    const auto end = std::find_if(begin, entries.end(), [&](const Entry& e) { return e.prefix != begin->prefix; });
    if (end - begin > 1) {
      std::sort(begin, end, [&](const Entry& a, const Entry& b) {
        const int order = texts[a.index].compare(texts[b.index]);
        return order != 0 ? order < 0 : a.index < b.index;
      });
    }
    begin = end;
  }
  std::vector<uint32_t> order;
  order.reserve(entries.size());
  for (const Entry& entry : entries) order.push_back(entry.index);
  return order;
}

}  // namespace deberta
