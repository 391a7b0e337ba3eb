# Toolchain file: a cross build for 64-bit ARM with Debian's compiler. Libraries come from build/aarch64-sysroot, where
# `tools/long_checks aarch64` unpacks them; the compiler brings its own C library, and programs run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# With precompiled headers this compiler warns about writes past the ends of strings inside the standard library.
set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)

get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-sysroot ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
