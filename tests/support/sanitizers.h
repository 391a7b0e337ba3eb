// Whether this is a sanitizer build: it looks for memory and threading errors and runs some 20 times slower, so tests
// with large counts use smaller ones.
#pragma once

namespace deberta::test {

#ifdef DEBERTA_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace deberta::test
