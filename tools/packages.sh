# Sourced by run, test and .ci/run: the Debian packages that each needs; installs missing ones and says so.

PRODUCT_PACKAGES="g++ cmake ninja-build nlohmann-json3-dev libcli11-dev libfmt-dev zlib1g-dev liblzma-dev libzstd-dev libbz2-dev libboost1.81-dev"
TRAIN_PACKAGES="python3-venv"  # LibTorch comes from PyPI, into .venv
PYTHON_PACKAGES="python3-dev python3-venv"  # of the Python extension; nanobind comes from PyPI
TEST_PACKAGES="libgtest-dev libboost-context1.81-dev python3-venv dpkg-dev file"  # the last two for cpack -G DEB
SERVE_TEST_PACKAGES="nginx-light caddy chromium chromium-driver strace"  # the proxies of deploy/, a browser for the pages, and what the server asks of the system
BENCH_PACKAGES="libbenchmark-dev"
FUZZ_PACKAGES="clang-14 libclang-rt-14-dev llvm-14"
GATE_PACKAGES="clang-14 clang-format-14 clang-tidy-14 ccache git"
RELEASE_PACKAGES="debootstrap buildah"  # a Debian with nothing else, and containers
NEWEST_CLANG_PACKAGES="clang-19"
STRACE_PACKAGES="strace"
AARCH64_PACKAGES="g++-12-aarch64-linux-gnu qemu-user"
# Unpacked beside the build, never installed: the machine's own packages stay as they are.
AARCH64_LIBRARIES="nlohmann-json3-dev libcli11-dev libboost1.81-dev:arm64 libboost-context1.81-dev:arm64 libboost-context1.81.0:arm64 libfmt-dev:arm64 libfmt9:arm64 zlib1g-dev:arm64 zlib1g:arm64 liblzma-dev:arm64
  liblzma5:arm64 libbz2-dev:arm64 libbz2-1.0:arm64 libzstd-dev:arm64 libzstd1:arm64 libgtest-dev:arm64 libc6:arm64 libgcc-s1:arm64 libstdc++6:arm64"

# install_packages WHAT PACKAGE...: installs the missing ones with apt, as root or through sudo (on a terminal, after asking).
install_packages() {
  local what=$1 missing="" package
  shift
  for package in "$@"; do
    case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null)" in
      *" installed") ;;
      *) missing="$missing $package" ;;
    esac
  done
  [ -n "$missing" ] || return 0
  local as_root="" answer=yes
  if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    command -v sudo >/dev/null || { echo "$what: not root and no sudo; install by hand:$missing" >&2; return 1; }
    if [ -t 0 ] && [ -t 2 ]; then
      read -r -p "$what: install these Debian packages with sudo?$missing [Y/n] " answer || return 1
      case $answer in [nN]*) echo "$what: install by hand:$missing" >&2; return 1 ;; esac
    fi
  fi
  echo "$what: installing Debian packages:$missing" >&2
  { $as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing; } >&2 ||
    { echo "$what: apt-get failed; install by hand:$missing" >&2; return 1; }
}

# forget_other_place WHAT FOLDER: what was configured in another place, before the checkout was copied or moved here, would build that one.
forget_other_place() {
  local place
  place=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$2/CMakeCache.txt" 2>/dev/null)
  [ -n "$place" ] && ! [ "$place" -ef . ] || return 0
  echo "$1: $2 was configured in $place, before this checkout was copied or moved" >&2
  rm -rf "$2/CMakeCache.txt" "$2/CMakeFiles" "$2/build.ninja"
}

# build_preset WHAT PRESET TARGET...: configures once, with CONFIGURE_FLAGS, and builds what changed; shows ninja's output only on failure.
build_preset() {
  local what=$1 preset=$2
  shift 2
  mkdir -p "build/$preset"
  (
    flock 9  # concurrent commands build one after the other
    forget_other_place "$what" "build/$preset"
    if [ ! -f "build/$preset/build.ninja" ]; then
      echo "$what: configuring build/$preset" >&2
      cmake --preset "$preset" ${CONFIGURE_FLAGS:-} >"build/$preset/configure.log" 2>&1 || { cat "build/$preset/configure.log" >&2; exit 1; }
    fi
    set -o pipefail
    ninja -C "build/$preset" "$@" 2>&1 | tee "build/$preset/build.log" | show_build "$what: building build/$preset" ||
      { tail -60 "build/$preset/build.log" >&2; exit 1; }
  ) 9>"build/$preset/.lock"
}

# show_build WORDS: says so when ninja compiles something; on a terminal also how much of it is done.
show_build() {
  local words=$1 line has_begun=
  while IFS= read -r line; do
    case $line in *Building*) ;; *) continue ;; esac
    if [ -t 2 ]; then printf '\r%s %s' "$words" "${line%%]*}]" >&2; elif [ -z "$has_begun" ]; then echo "$words" >&2; fi
    has_begun=yes
  done
  if [ -n "$has_begun" ] && [ -t 2 ]; then echo >&2; fi
}

# with_training WHAT PRESET: the same build with the training half, for which it installs LibTorch. Once configured so it stays so.
with_training() {
  local what=$1 preset=$2
  install_packages "$what" $TRAIN_PACKAGES || return 1
  (
    flock 9
    forget_other_place "$what" "build/$preset"
    python3 tools/private_python.py --only train >/dev/null || exit 1
    grep -qs "^DEBERTA_TRAIN:BOOL=ON" "build/$preset/CMakeCache.txt" && exit 0
    echo "$what: configuring build/$preset with the training half" >&2
    cmake --preset "$preset" ${CONFIGURE_FLAGS:-} -DDEBERTA_TRAIN=ON >"build/$preset/configure.log" 2>&1 ||
      { cat "build/$preset/configure.log" >&2; exit 1; }
  ) 9>"build/$preset/.lock"
}

# with_python WHAT PRESET: the same build with the Python extension, for which it installs nanobind. Once configured so it stays so.
with_python() {
  local what=$1 preset=$2 python
  install_packages "$what" $PYTHON_PACKAGES || return 1
  mkdir -p "build/$preset"
  (
    flock 9
    forget_other_place "$what" "build/$preset"
    python=$(python3 tools/private_python.py python/src) || exit 1
    grep -qs "^DEBERTA_PYTHON:BOOL=ON" "build/$preset/CMakeCache.txt" && exit 0
    echo "$what: configuring build/$preset with the Python extension" >&2
    cmake --preset "$preset" ${CONFIGURE_FLAGS:-} -DDEBERTA_PYTHON=ON -DPython_EXECUTABLE="$python" >"build/$preset/configure.log" 2>&1 ||
      { cat "build/$preset/configure.log" >&2; exit 1; }
  ) 9>"build/$preset/.lock"
}

# unpack_packages WHAT FOLDER PACKAGE...: into FOLDER, with package lists of its own; does nothing if they are already there.
unpack_packages() {
  local what=$1 folder=$2 work options
  shift 2
  [ "$(cat "$folder/packages" 2>/dev/null)" != "$*" ] || return 0
  echo "$what: unpacking Debian packages into $folder: $*" >&2
  rm -rf "$folder" && mkdir -p "$folder/apt/lists/partial" && work=$(realpath "$folder/apt") || return 1
  options="-o APT::Architectures::=$(dpkg --print-architecture) -o APT::Architectures::=arm64 -o APT::Sandbox::User=$(id -un)
    -o Dir::State::Lists=$work/lists -o Dir::Cache=$work/cache -o Acquire::Languages=none"
  (
    apt-get $options update -qq && (cd "$work" && apt-get $options download -qq "$@") || exit 1
    for package in "$work"/*.deb; do dpkg-deb -x "$package" "$folder" || exit 1; done
  ) >&2 || { echo "$what: apt-get failed; unpack by hand into $folder: $*" >&2; return 1; }
  rm -r "$work"
  # Absolute links are redirected to the same path inside the folder.
  find "$folder" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
    ln -sfnr "$folder$(readlink "$link")" "$link"
  done
  echo "$*" >"$folder/packages"
}
