# Lists the test cases in the order of their value for GPU time, each as "program<TAB>case<TAB>section".

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
