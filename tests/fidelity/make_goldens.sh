#!/usr/bin/env bash
# Rebuilds the golden files with libtorch 1.13 (Debian: libtorch-dev). Tests never run this.
# usage: make_goldens.sh [PROGRAM...]   (all programs without arguments)
set -euo pipefail
cd "$(dirname "$0")"
build=${BUILD_DIR:-../../build/fidelity-torch}
mkdir -p "$build" golden
flags=(-std=c++17 -O0 -w -DEBB_FIDELITY_TORCH -I/usr/include/torch/csrc/api/include)
# One precompiled header for all programs, because libtorch's headers take twenty seconds to compile.
if [ ! -f "$build/fidelity.h.gch" ] || [ fidelity.h -nt "$build/fidelity.h.gch" ]; then
  cp fidelity.h "$build/fidelity.h"
  g++ "${flags[@]}" -x c++-header fidelity.h -o "$build/fidelity.h.gch"
fi
g++ "${flags[@]}" -c main.cpp -o "$build/main.o"
export OMP_NUM_THREADS=1
# The programs in the given sources, sorted by name.
programs_of() { sed -n 's/^const Program program("\([^"]*\)".*/\1/p' "$@" | LC_ALL=C sort; }
programs=("$@")
[ $# -gt 0 ] || mapfile -t programs < <(programs_of programs/*/*.cpp)
built=" "
for name in "${programs[@]}"; do
  echo "$name"
  source=$(grep -l "^const Program program(\"$name\"" programs/*/*.cpp) || { echo "there is no program $name" && continue; }
  topic=$(basename "$(dirname "$source")")
  program=$topic-$(basename "$source" .cpp)
  if [[ $built != *" $program "* ]]; then
    g++ "${flags[@]}" -I"$build" -I. "$source" "$build/main.o" -o "$build/$program" -ltorch -ltorch_cpu -lc10 ||
      { echo "$source does not compile" && continue; }
    built+="$program "
  fi
  (cd "$build" && "./$program" "$name" >"$name.out")
  # Rewrites the golden file of the topic: the new report of this program, and the old reports of the others.
  golden=golden/$topic.txt
  touch "$golden"
  for other in $(programs_of programs/"$topic"/*.cpp); do
    if [ "$other" = "$name" ]; then
      cat "$build/$name.out"
    else
      awk -v header="=== $other" '/^=== / { wanted = $0 == header } wanted' "$golden"
    fi
  done >"$build/$topic.txt"
  mv "$build/$topic.txt" "$golden"
done
