// Whether this is a sanitizer's build: it looks for errors of memory and threads, some 20 times slower, and tests of
// large counts then take fewer.
#pragma once

namespace deberta::test {

#ifdef DEBERTA_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace deberta::test
