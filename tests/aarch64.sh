#!/usr/bin/env bash
# Cross-compiles libebb and the op table for 64-bit Arm (NEON, by Eigen) and runs rows of the table in qemu's user mode.
# The machine's own packages stay those of its architecture: arm64's libraries lie in build/aarch64/sysroot.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/aarch64.sh [-j N] [EXPRESSION]
  EXPRESSION   which tests of the op table: Catch2's, such as "op s*" (default: all; qemu is some 20 times as slow)
  -j N         N jobs (default: one for each processor)
END
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$root/cmake/debian.sh"
jobs=$(default_jobs)
while (($#)); do
  case $1 in
    -j) needs_number "$@"; jobs=$2; shift ;;
    -h | --help) usage; exit ;;
    -*) misused "there is no option $1" ;;
    *) break ;;
  esac
  shift
done
cd "$root"

prepare_folder "$root/build/aarch64" 1000
install_packages g++-aarch64-linux-gnu qemu-user cmake ninja-build ccache libeigen3-dev nlohmann-json3-dev libfmt-dev zlib1g-dev \
  libminizip-dev catch2 libonnx-testdata

# Apt, asked as an arm64 machine would ask it, unpacks into a folder.
build=$root/build/aarch64
sysroot=$build/sysroot libraries=$build/sysroot/usr/lib/aarch64-linux-gnu
if [[ ! -e $libraries/libminizip.so ]]; then
  say "unpacking arm64's libraries into build/aarch64/sysroot"
  mkdir -p "$build/apt/lists/partial" "$build/apt/archives/partial"
  apt=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User= -o Dir::State::status=/dev/null
    -o "Dir::State::lists=$build/apt/lists" -o "Dir::Cache=$build/apt")
  (apt-get "${apt[@]}" update && cd "$build/apt" && apt-get "${apt[@]}" download zlib1g zlib1g-dev libminizip1 libminizip-dev) ||
    fail "apt cannot fetch arm64's libraries: repair what it says above, and run this command again"
  for package in "$build"/apt/*.deb; do dpkg -x "$package" "$sysroot"; done
  ln -sf "$sysroot/lib/aarch64-linux-gnu/libz.so.1" "$libraries/libz.so"
fi

export QEMU_LD_PREFIX=/usr/aarch64-linux-gnu QEMU_SET_ENV=LD_LIBRARY_PATH=$sysroot/lib/aarch64-linux-gnu:$libraries
say "configuring build/aarch64"
configure "$build" -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DEBB_NATIVE=OFF -DEBB_CUDA=OFF -DEBB_VISION=OFF \
  -DEBB_BUILD_EXAMPLES=OFF -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
  -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64 -DCMAKE_CXX_FLAGS="-isystem $sysroot/usr/include/aarch64-linux-gnu" \
  -Dfmt_DIR="/usr/lib/$(gcc -dumpmachine)/cmake/fmt" -DZLIB_LIBRARY="$libraries/libz.so" -DZLIB_INCLUDE_DIR=/usr/include -DEBB_MINIZIP="$libraries/libminizip.so" \
  -DCMAKE_SHARED_LINKER_FLAGS="-L$libraries" \
  -DCMAKE_EXE_LINKER_FLAGS="-L$libraries -Wl,-rpath-link,$libraries,-rpath-link,$sysroot/lib/aarch64-linux-gnu"
say "building with $jobs jobs"
build "$build" -j "$jobs" --target test_optable
say "testing in qemu"
qemu-aarch64 "$build/tests/optable/test_optable" "${@:-*}"
