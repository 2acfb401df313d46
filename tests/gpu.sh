#!/usr/bin/env bash
# On a machine with a GPU: builds the CUDA backend, runs everything that needs the device and writes one report.
#   tests/gpu.sh [-o OUT] [-p PACKAGES] [STAGE...]
#   OUT       receives report.md and the logs (default build/gpu)
#   PACKAGES  a folder of Debian packages (*.deb) to unpack for the build, where they cannot be installed:
#             libeigen3-dev catch2 nlohmann-json3-dev libfmt-dev libfmt9 libcli11-dev zlib1g-dev zlib1g
#   STAGE     build tests memcheck racecheck initcheck examples benchmarks, or benchmarks:WORKLOAD (default: all, in
#             this order); a later call finds what an earlier one built and adds to its report
# In the environment: EBB_GPU_ARCH (default 90-real) is the architecture; EBB_GPU_COMMIT names the commit where there is
# no .git; CUDNN_ROOT is where cuDNN lies (default: where python3's nvidia.cudnn does, if it has one); EBB_GPU_CUDA=EMU
# tries the script where there is no GPU.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=$root/build/gpu packages=
while getopts "o:p:h" option; do
  case $option in
    o) out=$(realpath -m "$OPTARG") ;;
    p) packages=$(realpath "$OPTARG") ;;
    *) sed -n '2,12s/^# //p' "$0"; exit 0 ;;
  esac
done
shift $((OPTIND - 1))
stages=("$@")
((${#stages[@]})) || stages=(build tests memcheck racecheck initcheck examples benchmarks)
cuda=${EBB_GPU_CUDA:-ON}
build=$root/build/gpu-build
mkdir -p "$out" "$build"
report=$out/report.md
failed=0

# step NAME SECONDS LINES COMMAND...: runs it, keeps its output as NAME.log, and reports at once the verdict, the time it
# took and the last LINES of the output.
step() {
  local name=$1 limit=$2 lines=$3 start=$SECONDS verdict=passed
  shift 3
  timeout "$limit" "$@" >"$out/$name.log" 2>&1 || verdict="**failed** ($?)"
  [[ $verdict == passed ]] || failed=1
  printf '## %s: %s, %d s\n\n```\n%s\n```\n\n' "$name" "$verdict" $((SECONDS - start)) \
    "$(tail -n "$lines" "$out/$name.log")" >>"$report"
  printf '%s: %s, %d s\n' "$name" "$verdict" $((SECONDS - start))
}

find_cudnn() {
  [[ -n ${CUDNN_ROOT-} ]] && return
  local found
  found=$(python3 -c 'import nvidia.cudnn as c; print(list(c.__path__)[0])' 2>/dev/null) && export CUDNN_ROOT=$found
}

stage_build() {
  if [[ -n $packages ]]; then
    for package in "$packages"/*.deb; do dpkg -x "$package" "$build/packages"; done
    # Links to absolute paths mean files of the packages.
    find "$build/packages" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
      ln -sf "$build/packages$target" "$link"
    done
  fi
  find_cudnn
  local generator=()
  if command -v ninja >/dev/null; then generator=(-G Ninja); fi
  step configure 120 30 cmake -S "$root" -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DEBB_CUDA="$cuda" \
    -DCMAKE_CUDA_ARCHITECTURES="${EBB_GPU_ARCH:-90-real}" -DEBB_BUILD_BENCHMARKS=ON -DEBB_BUILD_TESTS=ON \
    -DEBB_BUILD_EXAMPLES=ON ${packages:+-DCMAKE_PREFIX_PATH="$build/packages/usr"}
  step build 580 3 cmake --build "$build" --parallel "$(nproc)" --target ebb_cuda test_cuda test_optable_cuda \
    device_tour cpu_vs_gpu train_cnn
}

programs=("$build/tests/cuda/test_cuda" "$build/tests/optable/test_optable_cuda")

stage_tests() {
  step device_tour 60 20 "$build/python_free_examples/device_tour"
  for program in "${programs[@]}"; do
    step "$(basename "$program")" 500 40 "$program"
    step "async-$(basename "$program")" 500 10 env EBB_CUDA_ALLOCATOR=async "$program" '~[caching]'
  done
}

# With the driver's own pools each tensor is a block of its own, whose end the tool knows.
sanitize() {
  for program in "${programs[@]}"; do
    step "$1-$(basename "$program")" 580 12 env EBB_CUDA_ALLOCATOR=async compute-sanitizer --tool "$1" \
      --report-api-errors no --error-exitcode 9 "$program" '~[caching]'
  done
}
stage_memcheck() { sanitize memcheck; }
stage_racecheck() { sanitize racecheck; }
stage_initcheck() { sanitize initcheck; }

stage_examples() {
  local sizes=() training=(--epochs 2)
  if [[ $cuda != ON ]]; then
    sizes=(--elements 10000 --matrix 64 --layer 64) training=(--epochs 1 --data "$root/python_free_examples/data/digits")
  fi
  step cpu_vs_gpu 300 60 "$build/python_free_examples/cpu_vs_gpu" "${sizes[@]}" --svg "$out/cpu_vs_gpu.svg"
  step train_cnn 300 10 "$build/python_free_examples/train_cnn" --device cuda "${training[@]}" --save "$out/net.safetensors"
}

stage_benchmarks() {
  local workloads=("$@") where=(-d cuda)
  [[ $cuda == ON ]] || where=(-d emu -s 65536)
  ((${#workloads[@]})) || workloads=(host_cost bandwidth gemm conv steps)
  for workload in "${workloads[@]}"; do
    step "benchmark-$workload" 580 400 "$root/benchmarks/run" "${where[@]}" -n 1 -b "$build" "$workload"
  done
}

if [[ ! -e $report ]]; then
  {
    printf '# GPU report\n\ncommit %s\n\n```\n' \
      "$(git -C "$root" rev-parse HEAD 2>/dev/null || echo "${EBB_GPU_COMMIT:-unknown}")"
    nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || echo "no nvidia-smi"
    nvcc --version | tail -2 || echo "no nvcc"
    printf '```\n\n'
  } >"$report" 2>&1
fi
for stage in "${stages[@]}"; do
  arguments=()
  [[ $stage != *:* ]] || arguments=("${stage#*:}")
  if ! declare -F "stage_${stage%%:*}" >/dev/null; then
    echo "tests/gpu.sh: there is no stage '$stage'" >&2
    exit 2
  fi
  "stage_${stage%%:*}" "${arguments[@]}"
  [[ $stage != build || $failed == 0 ]] || break
done
echo "report: $report"
exit $failed
