# One set of flags for every target of the engine half. Warnings of g++ 12 and clang 14 are errors for developers; new
# warnings of another compiler do not break anybody's build.
include(CheckCXXCompilerFlag)
add_library(deberta_flags INTERFACE)
target_compile_features(deberta_flags INTERFACE cxx_std_20)
target_compile_options(deberta_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow $<$<BOOL:${DEBERTA_WERROR}>:-Werror>
  -ffp-contract=off                 # only the ISA files of kernels/x86 may contract to fma
  -fstack-protector-strong -fPIC -fno-semantic-interposition -fvisibility=hidden  # one set of objects, for the program and the shared library
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.)
target_compile_definitions(deberta_flags INTERFACE _GLIBCXX_ASSERTIONS)
target_link_options(deberta_flags INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-pie> -Wl,-z,relro,-z,now,-z,noexecstack)
# What a release has (tools/check_product.py looks for it, docs/reference/release.md has its cost). FORTIFY needs optimisation, and hides errors from
# AddressSanitizer; some compilers of distributions define it themselves.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(deberta_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  check_cxx_compiler_flag(-fcf-protection=full DEBERTA_HAS_CET)
  if(DEBERTA_HAS_CET)
    target_compile_options(deberta_flags INTERFACE -fcf-protection=full)
  endif()
endif()
if(DEBERTA_SANITIZE)
  target_compile_definitions(deberta_flags INTERFACE DEBERTA_SANITIZED)
  target_compile_options(deberta_flags INTERFACE -fsanitize=${DEBERTA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
  target_link_options(deberta_flags INTERFACE -fsanitize=${DEBERTA_SANITIZE})
endif()
if(DEBERTA_FUZZ)
  target_compile_options(deberta_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(DEBERTA_COVERAGE)
  target_compile_options(deberta_flags INTERFACE --coverage)
  target_link_options(deberta_flags INTERFACE --coverage)
endif()
