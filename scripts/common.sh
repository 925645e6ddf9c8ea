# What the scripts share; sourced, never run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '== %s\n' "$*"; }
fail() { printf '== failed: %s\n' "$*" >&2; exit 1; }

# configure PRESET: runs CMake if the preset's folder has no build files yet; ninja runs it again when it must.
configure() {
  local folder=build
  [ "$1" = release ] || folder=build/$1
  [ -f "$folder/build.ninja" ] && return
  say "configuring $folder"
  local options=()
  # A build from the beginning to its end takes half the time so; who changes dfc takes the preset as it is.
  [ "$1" = release ] && options+=(-DDFC_JOIN_SOURCES=ON)
  # Eigen takes minutes to compile, and is compiled without sanitizers anyway, once for both.
  [ "$1" = tsan ] && options+=("-DDFC_LINEAR_LIBRARY=$PWD/build/asan/backends/linear/libdfc_linear.a")
  cmake --preset "$1" "${options[@]}" >"/tmp/dfc-configure-$$.log" 2>&1 || {
    cat "/tmp/dfc-configure-$$.log" >&2
    rm -f "/tmp/dfc-configure-$$.log"
    fail "cmake --preset $1"
  }
  rm -f "/tmp/dfc-configure-$$.log"
}

# build PRESET [TARGET...]: compiles on every core, fewer if memory is short (a compiler takes up to 1 GiB).
build() {
  local preset=$1 targets=() jobs memory
  shift
  for target in "$@"; do targets+=(--target "$target"); done
  jobs=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  if [ "$memory" -lt "$jobs" ]; then jobs=$((memory > 1 ? memory : 1)); fi
  configure "$preset"
  say "building $preset with $jobs jobs"
  cmake --build --preset "$preset" -j "$jobs" "${targets[@]}" -- --quiet || fail "build of $preset"
}
