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
g++ "${flags[@]}" -c main.cpp -o "$build/main.o"
export OMP_NUM_THREADS=1
programs=("$@")
[ $# -gt 0 ] || for file in programs/*/*.cpp; do programs+=("$(basename "$file" .cpp)"); done
for name in "${programs[@]}"; do
  echo "$name"
  g++ "${flags[@]}" -I"$build" -I. programs/*/"$name.cpp" "$build/main.o" -o "$build/$name" -ltorch -ltorch_cpu -lc10 ||
    { echo "$name does not compile" && continue; }
  (cd "$build" && "./$name" >"$name.out")
  # The file of its topic again: the new report of this program, the old ones of the others.
  topic=$(basename "$(dirname programs/*/"$name.cpp")")
  golden=golden/$topic.txt
  touch "$golden"
  for file in programs/"$topic"/*.cpp; do
    if [ "$(basename "$file" .cpp)" = "$name" ]; then
      cat "$build/$name.out"
    else
      awk -v header="=== $(basename "$file" .cpp)" '/^=== / { wanted = $0 == header } wanted' "$golden"
    fi
  done >"$build/$topic.txt"
  mv "$build/$topic.txt" "$golden"
done
