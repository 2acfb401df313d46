# Speed figures, one program after another and alone: "ebb NAME VALUE UNIT", each recorded immediately.

workloads=${EBB_GPU_WORKLOADS-bandwidth host_cost gemm steps conv}  # the most important first

# The problem size for an emulated device, in place of that for a large one.
size_of() { emulated && case $1 in bandwidth) echo 65536 ;; gemm) echo 128 ;; conv) echo 1 ;; esac; }

# lines_of STAGE SECONDS PREFIX COMMAND...: records the output of the command as figures, even if it does not finish.
lines_of() {
  local name=$1 limit=${EBB_GPU_LIMIT:-$2} prefix=$3 start status lines verdict=passed
  shift 3
  start=$(tenths)
  ((limit <= $(left))) || limit=$(left)
  if ((limit <= 0)); then
    record "$name" "not run" 0 "$name" -
    say "$name: not run, no time was left"
    return
  fi
  timeout -k "${EBB_GPU_KILL:-5}" "$limit" "$@" 2>"$logs/$name.log" </dev/null | sed -u "s/^/$prefix/" | tee -a "$logs/$name.figures" >>"$figures"
  status=${PIPESTATUS[0]}
  lines=$(wc -l <"$logs/$name.figures")
  ((status == 0)) || verdict=failed
  ((status != 124 && status != 137)) || verdict=timeout
  record "$name" "$verdict" "$(seconds_between "$start" "$(tenths)")" "$name: $lines figures" "$name.log"
  say "$name: $verdict, $lines figures"
  [[ $verdict == passed ]] || note_failure "$name ($verdict, status $status)" "$logs/$name.log"
  save
}

# shellcheck disable=SC2046
measure_ebb() { lines_of "ebb_$1" 100 'ebb ' "$bundle/bin/bench_$1" $(size_of "$1"); }
