#!/usr/bin/env bash
# Runs cases separately: job.sh "PROGRAM<TAB>CASE<TAB>SECTION"...; the pool (cases.sh) sets variables. Several cases
# share a process, which saves creating a device context for each; if it fails, each runs again alone.
set -uo pipefail

# together LINE...: the lines, from the first on, that one process can run: cases of a program, or sections of a case.
together() {
  local first=$1 line
  printf '%s\n' "$first"
  shift
  for line in "$@"; do
    [[ ${line##*$'\t'} && ${first##*$'\t'} && ${line%$'\t'*} == "${first%$'\t'*}" ||
      ! ${line##*$'\t'} && ! ${first##*$'\t'} && ${line%%$'\t'*} == "${first%%$'\t'*}" ]] || return 0
    printf '%s\n' "$line"
  done
}

# parts_of LINE: program, case and section, and the name for the results.
parts_of() {
  IFS=$'\t' read -r program case section <<<"$1"
  what="$program: $case${section:+ / $section}"
}

# Commas and brackets have a meaning in Catch2 test specs.
pattern_of() {
  local name=${1//\\/\\\\}
  name=${name//,/\\,}
  printf '%s' "${name//\[/\\[}"
}

# start LIMIT LINE...: runs these cases in one process; sets its log, its status and its time.
start() {
  local limit=$1 names= rows= line program case section what begin
  shift
  for line in "$@"; do
    parts_of "$line"
    [[ $section && $names ]] || names+=${names:+,}$(pattern_of "$case")
    rows+=$section$'\n'
  done
  local arguments=("$names")
  if (($# == 1)) && [[ $section ]]; then arguments+=(-c "$section"); fi
  parts_of "$1"
  log=$stage.$(printf '%s' "$program.$section.$case" | tr -c 'A-Za-z0-9_.' _ | cut -c1-120)$((($# > 1)) && echo .together).log
  status=0
  begin=${EPOCHREALTIME/[.,]/}
  # The message of the shell about a crash goes to the log as well.
  {
    if (($# > 1)) && [[ $section ]]; then export EBB_ROWS=$rows; fi
    timeout -k "${EBB_GPU_KILL:-5}" "$limit" ${stage_wrap-} "$bundle/bin/$program" "${arguments[@]}" </dev/null
  } >"$logs/$log" 2>&1 || status=$?
  unset EBB_ROWS
  took=$(((${EPOCHREALTIME/[.,]/} - begin) / 100000))
  [[ $(stat -c %s "$logs/$log") -lt 200000 ]] || tail -c 200000 "$logs/$log" >"$logs/$log.end" && [[ ! -e $logs/$log.end ]] ||
    mv "$logs/$log.end" "$logs/$log"
}

# verdict_of LIMIT: the verdict on the process of start(). Catch2 exits with the number of failures, so the status alone
# proves little.
verdict_of() {
  if ((status == 0)); then
    if grep -q 'rows skipped' "$logs/$log"; then echo skipped; else echo passed; fi
  elif ((status == 77)) && grep -q '^skipped:' "$logs/$log"; then
    echo skipped
  elif ((took >= $1 * 10)) && ((status == 124 || status == 137)); then
    echo timeout
  elif [[ -n ${stage_wrap-} ]] && ! grep -qE '^(test cases:|All tests passed)' "$logs/$log" &&
    grep -qiE '^=========.*(not supported|unable to|failed to initialize)|^timeout: ' "$logs/$log"; then
    echo "tool unusable"
  elif ((status > 128)) || grep -q 'fatal error condition' "$logs/$log"; then
    echo crashed
  else
    echo failed
  fi
}

seconds() { echo "$(($1 / 10)).$(($1 % 10))"; }

# all_passed LINE...: whether one process passes them all; if so, this is the verdict on each.
all_passed() {
  local limit=$((2 * stage_limit)) line
  ((limit <= $(left))) || limit=$(left)
  ((limit > 0)) || return 1
  start "$limit" "$@"
  [[ $(verdict_of "$limit") == passed ]] || return 1
  for line in "$@"; do
    parts_of "$line"
    record "$stage" passed "$(seconds $((took / $#)))" "$what" "$log"
  done
}

alone() {
  local limit=$stage_limit verdict
  parts_of "$1"
  ((limit <= $(left))) || limit=$(left)
  if ((limit <= 0)); then
    record "$stage" "not run" 0 "$what" -
    return
  fi
  start "$limit" "$1"
  parts_of "$1"
  verdict=$(verdict_of "$limit")
  record "$stage" "$verdict" "$(seconds "$took")" "$what" "$log"
  case $verdict in passed | skipped) ;; *) note_failure "$stage: $what ($verdict, status $status)" "$logs/$log" ;; esac
}

while (($# > 0)); do
  mapfile -t group < <(together "$@")
  if ((${#group[@]} == 1)) || ! all_passed "${group[@]}"; then
    for line in "${group[@]}"; do alone "$line"; done
  fi
  shift "${#group[@]}"
done
exit 0
