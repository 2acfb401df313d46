# The third call there: what the first found and was repaired since, PyTorch eager beside ebb, one profile.

source "$tests/figures.sh"
begin_call
start_bundle || finish_call 1

# What failed before: results of the first call in build/gpu, left by it or brought along.
if [[ -s $keep/first.results.tsv ]]; then
  failed_in "$keep/first.results.tsv" own alone plans | pool repaired $(($(nproc) > 8 ? 8 : $(nproc))) 90
else
  say "repaired: no results of the first call in $keep"
fi

# Python's packages bring libraries of their own.
if env -u LD_LIBRARY_PATH python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  for workload in $workloads; do
    measure_ebb "$workload"
    lines_of "eager_$workload" 100 '' env -u LD_LIBRARY_PATH python3 "$root/benchmarks/cuda/torch_twin.py" --eager "$workload"
  done
else
  record eager absent 0 "python3 has no torch that sees a device" -
  say "eager: python3 has no torch that sees a device"
  for workload in $workloads; do measure_ebb "$workload"; done
fi

# Each op of the bandwidth table once, with what decides its speed.
if profiler=$(tool_path ncu); then
  metrics=gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed,launch__registers_per_thread
  metrics+=,sm__warps_active.avg.pct_of_peak_sustained_active
  # shellcheck disable=SC2046
  EBB_BENCH_ONCE=1 step ncu 150 0 "$profiler" --csv --page raw --clock-control none --launch-count 300 --metrics "$metrics" \
    --log-file "$logs/ncu.csv" "$bundle/bin/bench_bandwidth" $(size_of bandwidth)
  [[ ! -e $logs/ncu.csv ]] || say "ncu: $(grep -c '^"' "$logs/ncu.csv") lines in ncu.csv of the logs"
else
  record ncu absent 0 "ncu is not on this machine" -
  say "ncu: not on this machine"
fi
finish_call 0
