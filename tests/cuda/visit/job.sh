#!/usr/bin/env bash
# One case in a process of its own: job.sh "PROGRAM<TAB>CASE<TAB>SECTION"; how, says the pool (pool.sh) in variables.
set -uo pipefail

IFS=$'\t' read -r program case section <<<"$1"
what="$program: $case${section:+ / $section}"
now=${EPOCHREALTIME%[.,]*}
limit=$stage_limit
((limit <= deadline - now)) || limit=$((deadline - now))
if ((limit <= 0)); then
  record "$stage" "not run" 0 "$what" -
  exit 0
fi

# Commas and brackets mean something in Catch2's selections.
name=${case//\\/\\\\} name=${name//,/\\,} name=${name//\[/\\[}
log=$stage.$(printf '%s' "$program.$section.$case" | tr -c 'A-Za-z0-9_.' _ | cut -c1-120).log
arguments=("$name")
[[ -z $section ]] || arguments+=(-c "$section")
start=${EPOCHREALTIME/[.,]/}
status=0
# The shell's own word on a crash goes to the log as well.
{ timeout -k "${EBB_GPU_KILL:-5}" "$limit" ${stage_wrap-} "$bundle/bin/$program" "${arguments[@]}" </dev/null; } >"$logs/$log" 2>&1 || status=$?
took=$(((${EPOCHREALTIME/[.,]/} - start) / 100000))
[[ $(stat -c %s "$logs/$log") -lt 200000 ]] || tail -c 200000 "$logs/$log" >"$logs/$log.end" && [[ ! -e $logs/$log.end ]] ||
  mv "$logs/$log.end" "$logs/$log"

# Catch2 gives the number of failures back, so that a number alone proves little.
if ((status == 0)); then
  verdict=passed
  if grep -q 'rows skipped' "$logs/$log"; then verdict=skipped; fi
elif ((status == 77)) && grep -q '^skipped:' "$logs/$log"; then
  verdict=skipped
elif ((took >= limit * 10)) && ((status == 124 || status == 137)); then
  verdict=timeout
elif [[ -n ${stage_wrap-} ]] && ! grep -qE '^(test cases:|All tests passed)' "$logs/$log" &&
  grep -qiE '^=========.*(not supported|unable to|failed to initialize)|^timeout: ' "$logs/$log"; then
  verdict="tool unusable"
elif ((status > 128)) || grep -q 'fatal error condition' "$logs/$log"; then
  verdict=crashed
else
  verdict=failed
fi
record "$stage" "$verdict" "$((took / 10)).$((took % 10))" "$what" "$log"
case $verdict in passed | skipped) ;; *) note_failure "$stage: $what ($verdict, status $status)" "$logs/$log" ;; esac
exit 0
