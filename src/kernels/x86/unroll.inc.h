// Loops over registers become straight-line code.
#if defined(__clang__)
#define DEBERTA_UNROLL _Pragma("unroll")
#else
#define DEBERTA_UNROLL _Pragma("GCC unroll 16")
#endif
