#!/usr/bin/env bash
# On a machine with a GPU: builds the CUDA backend, runs everything that needs the device and writes one report.
#   tests/gpu.sh [-o OUT] [-p PACKAGES] [STAGE...]
#   OUT       receives report.md and the logs (default build/gpu)
#   PACKAGES  a folder of Debian packages (*.deb) to unpack for the build, where they cannot be installed:
#             libeigen3-dev catch2 nlohmann-json3-dev libfmt-dev libfmt9 libcli11-dev zlib1g-dev zlib1g
#   STAGE     build tests sanitizers examples benchmarks (default: all, in this order); a later call finds what an
#             earlier one built
# EBB_GPU_ARCH (default 90-real) is the architecture; EBB_GPU_CUDA=EMU tries the script where there is no GPU.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/build/gpu packages=
while getopts "o:p:h" option; do
  case $option in
    o) out=$(realpath -m "$OPTARG") ;;
    p) packages=$(realpath "$OPTARG") ;;
    *) sed -n '2,10s/^# //p' "$0"; exit 0 ;;
  esac
done
shift $((OPTIND - 1))
stages=("$@")
((${#stages[@]})) || stages=(build tests sanitizers examples benchmarks)
build=$root/build/gpu-build
mkdir -p "$out" "$build"
report=$out/report.md
failed=0

# step NAME SECONDS COMMAND...: runs it, keeps its output as NAME.log and notes the verdict and the time it took.
step() {
  local name=$1 limit=$2 start=$SECONDS verdict=passed
  shift 2
  timeout "$limit" "$@" >"$out/$name.log" 2>&1 || verdict="**failed** ($?)"
  [[ $verdict == passed ]] || failed=1
  printf '| %s | %s | %d s |\n' "$name" "$verdict" $((SECONDS - start)) | tee -a "$report"
}

# What the last COUNT lines of a step's output say, quoted in the report.
quote() {
  [[ -e $out/$1.log ]] && printf '\n## %s\n\n```\n%s\n```\n' "$1" "$(tail -n "$2" "$out/$1.log")" >>"$quotes"
}

stage_build() {
  if [[ -n $packages ]]; then
    for package in "$packages"/*.deb; do dpkg -x "$package" "$build/packages"; done
    # Links to absolute paths mean files of the packages.
    find "$build/packages" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
      ln -sf "$build/packages$target" "$link"
    done
  fi
  local generator=()
  if command -v ninja >/dev/null; then generator=(-G Ninja); fi
  step configure 120 cmake -S "$root" -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release \
    -DEBB_CUDA="${EBB_GPU_CUDA:-ON}" -DCMAKE_CUDA_ARCHITECTURES="${EBB_GPU_ARCH:-90-real}" \
    -DEBB_BUILD_BENCHMARKS=ON ${packages:+-DCMAKE_PREFIX_PATH="$build/packages/usr"}
  step build 900 cmake --build "$build" --parallel "$(nproc)" --target ebb_cuda test_cuda test_optable_cuda device_tour \
    cpu_vs_gpu train_cnn
}

programs=("$build/tests/cuda/test_cuda" "$build/tests/optable/test_optable_cuda")

stage_tests() {
  step device_tour 60 "$build/python_free_examples/device_tour"
  for program in "${programs[@]}"; do
    step "$(basename "$program")" 600 "$program"
    quote "$(basename "$program")" 30
    step "async-$(basename "$program")" 600 env EBB_CUDA_ALLOCATOR=async "$program" '~[caching]'
  done
}

stage_sanitizers() {
  for tool in memcheck racecheck initcheck; do
    for program in "${programs[@]}"; do
      step "$tool-$(basename "$program")" 600 compute-sanitizer --tool "$tool" --error-exitcode 9 "$program"
      quote "$tool-$(basename "$program")" 5
    done
  done
}

stage_examples() {
  step cpu_vs_gpu 300 "$build/python_free_examples/cpu_vs_gpu" --svg "$out/cpu_vs_gpu.svg"
  step train_cnn 300 "$build/python_free_examples/train_cnn" --device cuda --epochs 2
  quote cpu_vs_gpu 60
  quote train_cnn 10
}

stage_benchmarks() {
  local where=(-d cuda)
  [[ ${EBB_GPU_CUDA:-ON} == ON ]] || where=(-d emu -s 65536 bandwidth)
  step benchmarks 900 "$root/benchmarks/run" "${where[@]}" -n 1 -b "$build"
  quote benchmarks 400
}

quotes=$(mktemp)
trap 'rm -f "$quotes"' EXIT
{
  printf '# GPU report\n\ncommit %s\n\n```\n' "$(git -C "$root" rev-parse HEAD 2>/dev/null || echo unknown)"
  nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || echo "no nvidia-smi"
  nvcc --version | tail -2 || echo "no nvcc"
  printf '```\n\n| step | | |\n|---|---|---|\n'
} >"$report" 2>&1
for stage in "${stages[@]}"; do
  if ! declare -F "stage_$stage" >/dev/null; then
    echo "tests/gpu.sh: there is no stage '$stage'" >&2
    exit 2
  fi
  "stage_$stage"
  [[ $stage != build || $failed == 0 ]] || break
done
cat "$quotes" >>"$report"
echo "report: $report"
exit $failed
