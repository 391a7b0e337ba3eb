// Whether this is a sanitizer's build: it looks for errors of memory and threads, some 20 times slower, and tests of
// large counts then take fewer.
#pragma once

namespace deberta::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace deberta::test
