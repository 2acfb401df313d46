#!/usr/bin/env bash
# Rebuild the golden files from libtorch 1.13 (Debian: libtorch-dev). Tests never run this.
# usage: make_goldens.sh [PROGRAM...]   (all programs without arguments)
set -euo pipefail
cd "$(dirname "$0")"
build=${BUILD_DIR:-../../build/fidelity-torch}
mkdir -p "$build" golden
flags=(-std=c++17 -O0 -w -DEBB_FIDELITY_TORCH -I/usr/include/torch/csrc/api/include)
# One precompiled header: libtorch's own takes twenty seconds a program.
if [ ! -f "$build/fidelity.h.gch" ] || [ fidelity.h -nt "$build/fidelity.h.gch" ]; then
  cp fidelity.h "$build/fidelity.h"
  g++ "${flags[@]}" -x c++-header fidelity.h -o "$build/fidelity.h.gch"
fi
export OMP_NUM_THREADS=1
programs=("$@")
[ $# -gt 0 ] || for file in programs/*.cpp; do programs+=("$(basename "$file" .cpp)"); done
for name in "${programs[@]}"; do
  echo "$name"
  g++ "${flags[@]}" -I"$build" "programs/$name.cpp" -o "$build/$name" -ltorch -ltorch_cpu -lc10 ||
    { echo "$name does not compile" && continue; }
  (cd "$build" && "./$name" >"$name.out")
  mv "$build/$name.out" "golden/$name.txt"
done
