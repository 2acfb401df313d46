# Shared by the calls of tests/cuda/visit/run: the clock, the transcript, results line by line, the archive of logs.
# Sourced with root, call, preset, minutes, out, bundle and keep set.

tests=$root/tests/cuda/visit

# Tenths of a second since the epoch, without a process.
tenths() { local t=${EPOCHREALTIME/[.,]/}; printf '%s' "${t::-5}"; }
seconds_between() { printf '%d.%d' $((($2 - $1) / 10)) $((($2 - $1) % 10)); }

begin_call() {
  mkdir -p "$out" "$keep"
  began=$(tenths)
  deadline=$((began / 10 + minutes * 60 - 20))  # the rest of the time is for the report
  [[ ${EBB_GPU_SECONDS-} == '' ]] || deadline=$((began / 10 + EBB_GPU_SECONDS))
  logs=$(mktemp -d)
  transcript=$out/$call.transcript.txt results=$out/$call.results.tsv
  failures=$out/$call.failures.txt figures=$out/$call.figures.txt
  : >"$transcript"; : >"$results"; : >"$failures"; : >"$figures"
  export call deadline logs results failures
  trap 'say "ended by a signal"; finish_call 1' TERM INT
  unpack_bundle
  say "$call, $minutes minutes at most, bundle $(sed -n 's/^commit //p' "$bundle/MANIFEST" 2>/dev/null)"
}

left() { printf '%d' $((deadline - $(tenths) / 10)); }
export -f tenths left

# Prints a line of the transcript, with the seconds since the call began.
say() { printf '%6.1f %s\n' "$(seconds_between "$began" "$(tenths)")" "$*" | tee -a "$transcript"; }

# small SIZE: the size for an emulated device.
emulated() { grep -q '^preset emu' "$bundle/MANIFEST" 2>/dev/null; }
small() { if emulated; then printf '%s ' "$@"; else return 1; fi; }

# record STAGE VERDICT SECONDS WHAT LOG: writes one line immediately.
record() { printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$call" "$1" "$2" "$3" "$4" "$5" >>"$results"; }
export -f record

# The number of lines of a stage with a verdict.
counted() { awk -F'\t' -v s="$1" -v v="$2" '$2 == s && $3 == v { ++n } END { print n + 0 }' "$results"; }

# summary STAGE: "171 planned: 160 passed, 2 failed, ..."
summary() {
  awk -F'\t' -v s="$1" '$2 == s { if ($3 == "planned") planned = $5; else ++n[$3] }
    END { printf "%d planned:", planned
          for (v in n) printf " %d %s", n[v], v | "sort -k2"; close("sort -k2"); print "" }' "$results" | tr '\n' ' '
}

# step NAME SECONDS LINES COMMAND...: runs one command and records its verdict, its time and the last lines of its
# output.
step() {
  local name=$1 limit=$2 lines=$3 start verdict=passed status=0
  shift 3
  start=$(tenths)
  ((limit <= $(left))) || limit=$(left)
  if ((limit <= 0)); then
    record "$name" "not run" 0 "$name" -
    say "$name: not run, no time was left"
    return 1
  fi
  timeout -k "${EBB_GPU_KILL:-5}" "$limit" "$@" >"$logs/$name.log" 2>&1 </dev/null || status=$?
  ((status == 0)) || verdict=failed
  ((status != 124 && status != 137)) || verdict=timeout
  record "$name" "$verdict" "$(seconds_between "$start" "$(tenths)")" "$name" "$name.log"
  say "$name: $verdict"
  tail -n "$lines" "$logs/$name.log" | tee -a "$transcript"
  [[ $verdict == passed ]] || note_failure "$name ($verdict, status $status)" "$logs/$name.log"
  [[ $verdict == passed ]]
}

# note_failure WHAT LOG: adds the end of a log to the failures; for a sanitizer, its first report too.
note_failure() {
  local first
  first=$(grep -m 12 '^=========' "$2")
  printf '=== %s\n%s%s\n\n' "$1" "${first:+$first$'\n'...$'\n'}" "$(tail -n 40 "$2" | tail -c 3000)" >>"$failures"
}
export -f note_failure

# Saves a copy of all files in a place that a kill does not affect.
save() {
  tar -C "$logs" -czf "$logs.tar.gz" . 2>/dev/null  # files that grow during the copy do no harm
  mv "$logs.tar.gz" "$out/$call.logs.tar.gz"
  [[ $out == "$keep" ]] || cp "$out/$call".*.t* "$keep/" 2>/dev/null
  true
}

# finish_call STATUS: writes archive and report, and prints the head of the report last.
finish_call() {
  trap - TERM INT
  save
  write_report "$out" >"$out/$call.report.md"
  say "report: $out/$call.report.md"
  save
  sed -n '1,60p' "$out/$call.report.md"
  rm -rf "$logs"
  exit "$1"
}

source "$tests/machine.sh"
source "$tests/cases.sh"
source "$tests/write_report.sh"
