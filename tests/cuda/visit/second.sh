# The second call on the machine: sanitizers on lists that cover all families of kernels, then ebb's own figures, alone.

source "$tests/figures.sh"
begin_call
start_bundle || finish_call 1

# With the driver's pools each tensor is a separate block, whose end the tool knows; cuDNN's kernels are not ours.
sanitize() {
  local tool=$1 sanitizer
  shift
  if ! sanitizer=$(tool_path compute-sanitizer); then
    record "$tool" absent 0 "compute-sanitizer is not on this machine" -
    say "$tool: compute-sanitizer is not on this machine"
    return
  fi
  listed "$tool" | EBB_CUDNN=0 EBB_CUDA_ALLOCATOR=async pool "$tool" "$(nproc)" 100 \
    "$sanitizer" --tool "$tool" --report-api-errors no --error-exitcode 9 "$@"
}

all=$deadline
deadline=$(($(tenths) / 10 + $(left) * 45 / 100))  # figures are worth more than the last sanitizer cases
sanitize memcheck
sanitize initcheck
sanitize synccheck
sanitize racecheck  # the slowest
deadline=$all

for workload in $workloads; do measure_ebb "$workload"; done
step cpu_vs_gpu 60 40 "$bundle/bin/cpu_vs_gpu" $(small --elements 10000 --matrix 64 --layer 64) --svg "$logs/cpu_vs_gpu.svg"
step train_cnn 60 6 "$bundle/bin/train_cnn" --device cuda --epochs $(small 1 || echo 2) --data "$root/python_free_examples/data/digits" \
  --save "$logs/net.safetensors"
finish_call 0
