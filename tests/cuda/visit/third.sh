# The third call on the machine: failures of the first call that were repaired since, PyTorch eager and ebb, one
# profile.

source "$tests/figures.sh"
begin_call
start_bundle || finish_call 1

# Earlier failures: results of the first call in build/gpu, left by it or sent along.
if [[ -s $keep/first.results.tsv ]]; then
  failed_in "$keep/first.results.tsv" risky two_devices own alone plans | pool repaired $((($(nproc) + 1) / 2)) 90
else
  say "repaired: no results of the first call in $keep"
fi

# Python packages have their own libraries.
with_python() { env -u LD_LIBRARY_PATH python3 "$@"; }
export -f with_python
has_torch=
with_python -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null && has_torch=yes

beside_pytorch() {
  measure_ebb "$1"
  [[ -z $has_torch ]] || lines_of "eager_$1" 100 '' bash -c 'with_python "$@"' _ "$root/benchmarks/cuda/torch_twin.py" --eager "$1"
}

# Runs each op of the bandwidth table once, with metrics that determine its speed.
profile() {
  local profiler metrics=gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed
  metrics+=,launch__registers_per_thread,sm__warps_active.avg.pct_of_peak_sustained_active
  if ! profiler=$(tool_path ncu); then
    record ncu absent 0 "ncu is not on this machine" -
    say "ncu: not on this machine"
    return
  fi
  # shellcheck disable=SC2046
  EBB_BENCH_ONCE=1 step ncu 120 0 "$profiler" --csv --page raw --clock-control none --launch-count 300 --metrics "$metrics" \
    --log-file "$logs/ncu.csv" "$bundle/bin/bench_bandwidth" $(size_of bandwidth)
  [[ ! -e $logs/ncu.csv ]] || say "ncu: $(grep -c '^"' "$logs/ncu.csv") lines in ncu.csv of the logs"
}

if [[ -z $has_torch ]]; then
  record eager absent 0 "python3 has no torch that sees a device" -
  say "eager: python3 has no torch that sees a device"
fi
for workload in $workloads; do
  beside_pytorch "$workload"
  [[ $workload != bandwidth ]] || profile  # before the convolutions, which may use the rest of the time
done
finish_call 0
