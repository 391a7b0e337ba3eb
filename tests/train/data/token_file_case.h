// Token files for tests: documents with known tokens.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "train/data/token_file.h"

namespace deberta::train::test_case {

inline void write_tokens(const std::string& path, const std::vector<std::vector<int32_t>>& documents,
                         size_t vocabulary) {
  write_output_file(path, [&](FileWriter& out) {
    TokenFileWriter writer(out, vocabulary, path);
    for (const std::vector<int32_t>& document : documents) {
      writer.begin_document();
      writer.add(document);
    }
    writer.finish({});
  });
}

// `count` tokens: begin, begin + 1 ...
inline std::vector<int32_t> counted(int32_t begin, size_t count) {
  std::vector<int32_t> ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = begin + static_cast<int32_t>(i);
  return ids;
}

}  // namespace deberta::train::test_case
