# Converts the JSON of Google Benchmark to lines of "NAME VALUE UNIT SHARE ROOF", one for each benchmark that was not
# skipped.
# VALUE is the median over the repetitions.
# SHARE is the fraction of ROOF that the benchmark reached. SHARE and ROOF are "-" if the benchmark's work is not known.
{ gsub(/[",]/, "") }
$1 == "run_name:" { name = $2; sub(/\/(real_time|iterations|repeats).*$/, "", name); share = roof = "-"; value = "" }
$1 == "run_type:" { wanted = $2 == "iteration" }  # present only if there is a single repetition
$1 == "aggregate_name:" { wanted = $2 == "median" }
$1 == "value:" { value = $2 }
$1 == "of_roof:" { share = $2 }
$1 == "roof:" { roof = $2 }
$1 == "label:" { unit = $2 }
$1 == "}" && wanted && value != "" { print name, value, unit, share, roof; wanted = 0 }
