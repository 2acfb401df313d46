#!/usr/bin/env bash
# Runs tests with Catch2 3: builds it from the source package of Debian 13, builds test programs with it, and runs them.
#   tests/support/catch3.sh [-j N] [-s] [PROGRAM...]
# PROGRAM: a target such as test_nn (default: a few small ones). -s: also checks the syntax of the sources of all other test
# programs. All files are in build/catch3. The mirror is the one in the machine's list of packages.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/cmake/debian.sh"
jobs=$(default_jobs) syntax=''
while getopts "j:s" option; do
  case $option in
    j) jobs=$OPTARG ;;
    s) syntax=yes ;;
    *) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;;
  esac
done
shift $((OPTIND - 1))
programs=("$@")
(($#)) || programs=(test_lint test_cartpole test_core test_optim)
work=$root/build/catch3
catch=$work/catch2
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$catch"

# apt with separate lists, which does not change the packages of the machine.
apt_of_trixie() {
  apt-get -o Dir::Etc::SourceList="$work/trixie.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$work/lists" \
    -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

if [[ ! -e $catch/install/include/catch2/catch_all.hpp ]]; then
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u | head -1)
  [[ $mirror ]] || fail "apt-get knows no mirror of Debian: name one in /etc/apt, run apt-get update, and this command again"
  printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s trixie main\n' "$mirror" >"$work/trixie.list"
  apt_of_trixie update -qq
  (cd "$catch" && apt_of_trixie source -qq --download-only catch2)
  mkdir -p "$catch/source"
  tar -C "$catch/source" --strip-components=1 -xf "$catch"/catch2_3*.orig.tar.*
  say "building Catch2 $(sed -n 's/^ *VERSION \([0-9.]*\).*/\1/p' "$catch/source/CMakeLists.txt" | head -1)"
  cmake -S "$catch/source" -B "$catch/build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DCATCH_INSTALL_DOCS=OFF \
    -DBUILD_TESTING=OFF -DCMAKE_CXX_STANDARD=20 -DCMAKE_INSTALL_PREFIX="$catch/install" >/dev/null
  nice cmake --build "$catch/build" -j "$jobs" --target install >"$catch/log" || { tail -30 "$catch/log"; exit 1; }
fi

options=(-G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$catch/install")

# configure_with FOLDER OPTIONS...: configures like the presets, but with this Catch2.
configure_with() {
  say "configuring in build/catch3/$1"
  configure "$work/$1" -S "$root" -B "$work/$1" "${options[@]}" "${@:2}"
  grep -q "^Catch2_DIR:PATH=$catch/install" "$work/$1/CMakeCache.txt" || fail "CMake found another Catch2 than that of $catch: remove $work/$1, and run this command again"
}

configure_with release -DEBB_CUDA=OFF
say "building ${programs[*]}"
nice cmake --build "$work/release" -j "$jobs" --target "${programs[@]}"
for program in "${programs[@]}"; do
  say "$program"
  "$(find "$work/release" -type f -name "$program" -perm -u+x -print -quit)" | tail -3
done

# A launcher discards all output of the compiler except precompiled headers. Ninja finds no objects and compiles them all again.
if [[ $syntax ]]; then
  printf '#!/bin/sh\ncase "$*" in *c++-header*) exec "$@" ;; *) exec "$@" -fsyntax-only ;; esac\n' >"$work/launcher"
  chmod +x "$work/launcher"
  configure_with syntax -DEBB_CUDA=EMU -DCMAKE_CXX_COMPILER_LAUNCHER="$work/launcher"
  # Sources of test_emit and test_gradbench depend on programs, and so on the library.
  mapfile -t objects < <(ninja -C "$work/syntax" -t targets all | sed -nE 's#^(tests/.*/(test_|optable_|ebb_test_)[a-z_]*\.dir/.*\.cpp\.o): .*#\1#p' |
    grep -vE '/test_(emit|gradbench)\.dir/')
  say "checking the syntax of ${#objects[@]} sources"
  nice ninja -C "$work/syntax" -j "$jobs" -k 0 --quiet "${objects[@]}"
fi
