# Runs many cases in parallel and isolated from each other (job.sh), so that one bad kernel fails only one case.

# pool STAGE JOBS SECONDS [WRAPPER...]: reads cases ("program<TAB>case<TAB>section") from standard input. Each case has
# that many seconds and runs inside the wrapper, with `per_process` (1) cases in one process. Ends soon after the
# deadline in any case.
pool() {
  local name=$1 jobs=$2 group saved
  export stage=$1 stage_limit=${EBB_GPU_LIMIT:-$3} bundle
  shift 3
  export stage_wrap="$*" OMP_NUM_THREADS=2  # many processes share the processors
  grep -E -- "${EBB_GPU_ONLY:-.}" >"$logs/$name.cases"
  record "$name" planned 0 "$(wc -l <"$logs/$name.cases")" -
  setsid xargs -r -d '\n' -n "${per_process:-1}" -P "$jobs" bash "$tests/job.sh" <"$logs/$name.cases" &
  group=$!
  saved=$SECONDS
  while kill -0 "$group" 2>/dev/null; do
    sleep 0.2
    ((SECONDS < saved + 30)) || { save; saved=$SECONDS; }
    (($(left) > -12)) || { kill -- "-$group" 2>/dev/null; say "$name: cases were left that no signal ends"; break; }
  done
  wait "$group" 2>/dev/null
  say "$name: $(summary "$name")"
}

# failed_in FILE STAGE...: the cases of these stages that did not pass, in the input format of a pool.
failed_in() {
  local file=$1
  shift
  awk -F'\t' -v stages=" $* " 'index(stages, " " $2 " ") && $3 ~ /^(failed|crashed|timeout)$/ {
    what = $5; program = what; sub(/:.*/, "", program); sub(/^[^:]*: /, "", what)
    section = ""; if ((at = index(what, " / ")) > 0) { section = substr(what, at + 3); what = substr(what, 1, at - 1) }
    print program "\t" what "\t" section }' "$file" | sort -u
}
