// The identity: every byte of the new text comes from the same byte of the old one.
#include "text/mapped_text.h"

#include "base/utf8.h"

namespace deberta {

MappedText to_mapped(std::string_view text) {
  MappedText mapped;
  mapped.text = text;
  mapped.sources.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = at + decode_utf8(text, at).size_bytes;
    mapped.sources.resize(end, {static_cast<uint32_t>(at), static_cast<uint32_t>(end)});
    at = end;
  }
  return mapped;
}

}  // namespace deberta
