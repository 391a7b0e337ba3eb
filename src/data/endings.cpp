// A table of endings.
#include "data/endings.h"

#include <algorithm>
#include <utility>

#include "data/decompressor.h"

namespace deberta {
namespace {

constexpr std::pair<std::string_view, std::string_view> kForms[] = {
    {".tsv", "tsv"},      {".tab", "tsv"},   {".csv", "csv"},     {".jsonl", "jsonl"},
    {".ndjson", "jsonl"}, {".json", "json"}, {".conll", "conll"}, {".txt", "text"},
};

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool has_ending(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         std::equal(ending.begin(), ending.end(), path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                    [](char a, char b) { return a == lower(b); });
}

std::string_view form_of_ending(std::string_view path) {
  const std::string_view name = without_compression_ending(path);
  for (const auto& [ending, form] : kForms) {
    if (has_ending(name, ending)) return form;
  }
  return {};
}

}  // namespace deberta
