// Recognises file types by their first bytes, because a file's name may say nothing or be wrong.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace deberta {

struct Magic {
  std::string_view bytes;
  size_t offset = 0;
  // One of the bytes counts only in the bits of its mask.
  size_t masked = 0;
  uint8_t mask = 0xFF;
};

enum class Match { kNo, kTooShort, kYes };  // kTooShort: it fits so far
Match match(const Magic& magic, std::string_view bytes);

enum class TextEncoding { kUtf8, kUtf16Le, kUtf16Be };
// By the byte order mark; without one UTF-8. `mark_bytes`: its length.
TextEncoding encoding_of(std::string_view bytes, size_t& mark_bytes);

// Throws kInput if the start of a file, decompressed, is not text but an archive, an array, an image, UTF-32, or has
// NUL bytes. `name` opens the message.
void check_text(std::string_view bytes, const std::string& name);

// Whether more bytes are needed for either answer.
bool is_too_short_to_tell(std::string_view bytes);

}  // namespace deberta
