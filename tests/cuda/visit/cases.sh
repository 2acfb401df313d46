# Lists the test cases in the order of their value for GPU time, each as "program<TAB>case<TAB>section", and runs many of
# them in parallel and isolated from each other (job.sh), so that one bad kernel fails only one case.

lists=${EBB_GPU_LISTS:-$tests/lists}

# Cases that build cuDNN plans, at a second or more each, come last. Families of rows, and cases.
plan_families='^(attention|conv|norm|nn)$'
plan_cases='*channels-last*,*cuDNN*,*batch norm*,*conv*,*CNN*'

# Catch2 exits with the number of names.
names_of() { "$bundle/bin/$1" "${@:2}" --list-test-names-only 2>/dev/null || true; }

# The rows of the op table as "family<TAB>row".
rows() { "$bundle/bin/test_optable_cuda" '[.rows]' 2>/dev/null | sed -n 's/^row\t//p'; }

# row_cases own|plans: the rows whose kernels are ebb's own, or those of cuDNN.
row_cases() {
  rows | awk -F'\t' -v which="$1" -v plans="$plan_families" '($1 ~ plans) == (which == "plans") {
    print "test_optable_cuda\tCPU against CUDA, " $1 "\t" $2 }'
}

# device_cases own|plans|alone: the cases of test_cuda. [alone] marks cases that use the whole device, [sticky] cases
# that break it for their process.
device_cases() {
  local alone
  alone=$(names_of test_cuda '[alone]'; names_of test_cuda '[sticky]')
  case $1 in
    alone) echo "$alone" ;;
    plans) names_of test_cuda "$plan_cases" | grep -vxF "$alone" ;;
    own) names_of test_cuda | grep -vxF "$alone"$'\n'"$(names_of test_cuda "$plan_cases")" ;;
  esac | sed 's/^/test_cuda\t/; s/$/\t/'
}

# The cases that test more on a machine with two devices: copies between them, replicas on both.
two_device_cases() { names_of test_cuda '[two_devices]' | sed 's/^/test_cuda\t/; s/$/\t/'; }

# capture_cases own|plans: the ops of the table inside a captured graph, one case for each family.
capture_cases() {
  names_of test_optable_cuda '[capture]' | awk -v which="$1" -v plans="$plan_families" '{ family = $0; sub(/.*, /, "", family) }
    (family ~ plans) == (which == "plans") { print "test_optable_cuda\t" $0 "\t" }'
}

# listed NAME: the cases of a list in $lists ("row NAME", "case NAME"), and an error for a name that does not exist.
listed() {
  local kind name found status=0
  rows >"$logs/rows.list"
  names_of test_cuda >"$logs/cases.list"
  while read -r kind name; do
    found=
    case $kind in
      row) found=$(awk -F'\t' -v n="$name" '$2 == n { print "test_optable_cuda\tCPU against CUDA, " $1 "\t" $2 }' "$logs/rows.list") ;;
      case) found=$(grep -xF -- "$name" "$logs/cases.list" | sed 's/^/test_cuda\t/; s/$/\t/') ;;
    esac
    if [[ -n $found ]]; then echo "$found"; else echo "$1: there is no $kind '$name'" >&2; status=1; fi
  done < <(grep -vE '^(#|$)' "$lists/$1.list")
  return $status
}

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
