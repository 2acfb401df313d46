# The JSON of Google Benchmark to lines of "NAME VALUE UNIT SHARE ROOF", one a benchmark: the median over its repetitions.
# One that was skipped has none.
# SHARE is of the ROOF that the benchmark measured; both are "-" where its work is not known.
{ gsub(/[",]/, "") }
$1 == "run_name:" { name = $2; sub(/\/(real_time|iterations|repeats).*$/, "", name); share = roof = "-"; value = "" }
$1 == "run_type:" { wanted = $2 == "iteration" }  # these are shown only where there is a single one
$1 == "aggregate_name:" { wanted = $2 == "median" }
$1 == "value:" { value = $2 }
$1 == "of_roof:" { share = $2 }
$1 == "roof:" { roof = $2 }
$1 == "label:" { unit = $2 }
$1 == "}" && wanted && value != "" { print name, value, unit, share, roof; wanted = 0 }
