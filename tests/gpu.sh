#!/usr/bin/env bash
# On a machine with a GPU: builds the CUDA backend, runs everything that needs the device and writes one report.
#   tests/gpu.sh [OUT]      OUT (default build/gpu) receives report.md and the logs
# Needs nvcc, CMake and the packages of tests/run; Eigen and Catch2 are also found through CMAKE_PREFIX_PATH.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$(realpath -m "${1:-$root/build/gpu}")
build=$root/build/gpu-build
mkdir -p "$out"
report=$out/report.md
failed=0

# step NAME COMMAND...: runs it, keeps its output as NAME.log and notes the verdict and the time it took.
step() {
  local name=$1 start=$SECONDS verdict=passed
  shift
  "$@" >"$out/$name.log" 2>&1 || verdict="**failed** ($?)"
  [[ $verdict == passed ]] || failed=1
  printf '| %s | %s | %d s |\n' "$name" "$verdict" $((SECONDS - start)) >>"$report"
}

{
  printf '# GPU report\n\ncommit %s\n\n```\n' "$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)"
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || echo "no nvidia-smi"
  nvcc --version | tail -2 || echo "no nvcc"
  printf '```\n\n| step | | |\n|---|---|---|\n'
} >"$report" 2>&1

step configure cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DEBB_CUDA=ON \
  -DCMAKE_CUDA_ARCHITECTURES="${EBB_GPU_ARCH:-90-real}"
step build cmake --build "$build" --parallel "$(nproc)" --target ebb_cuda test_cuda test_optable_cuda device_tour cpu_vs_gpu train_cnn

programs=("$build/tests/cuda/test_cuda" "$build/tests/optable/test_optable_cuda")
if ((failed == 0)); then
  step device_tour "$build/python_free_examples/device_tour"
  for program in "${programs[@]}"; do
    step "$(basename "$program")" "$program"
  done
  for tool in memcheck racecheck initcheck; do
    for program in "${programs[@]}"; do
      step "$tool-$(basename "$program")" timeout 600 compute-sanitizer --tool "$tool" --error-exitcode 9 "$program"
    done
  done
  step cpu_vs_gpu "$build/python_free_examples/cpu_vs_gpu" --svg "$out/cpu_vs_gpu.svg"
  step train_cnn "$build/python_free_examples/train_cnn" --device cuda --epochs 2
fi

{
  printf '\n'
  for log in test_cuda test_optable_cuda cpu_vs_gpu train_cnn; do
    [[ -e $out/$log.log ]] || continue
    printf '## %s\n\n```\n' "$log"
    tail -40 "$out/$log.log"
    printf '```\n\n'
  done
} >>"$report"
cat "$report"
exit $failed
