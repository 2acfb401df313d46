# Converts lines of "SIDE NAME VALUE UNIT [SHARE ROOF]" to a table of medians, or to CSV with -v csv=1. The table has a
# row for each name and a column for each side. Further columns are the ratio of ebb to the smallest other side (for
# times and memory), and ebb's share of the highest roof that a side measured. The side "replay" is ebb with compiled
# calls, and does not count as another side.
function median(list, count,   values, i, j, swap) {
  split(list, values, " ")
  for (i = 1; i < count; ++i)
    for (j = i + 1; j <= count; ++j)
      if (values[j] + 0 < values[i] + 0) { swap = values[i]; values[i] = values[j]; values[j] = swap }
  return values[int((count + 1) / 2)]
}
{
  if (!($2 in unit)) { order[++names] = $2; unit[$2] = $4 }
  if (!($1 in seen)) { seen[$1] = 1; if ($1 != "ebb") side[++sides] = $1 }
  samples[$1, $2] = samples[$1, $2] " " $3
  ++counts[$1, $2]
  if ($6 + 0 > 0) {
    if ($6 + 0 > roof[$2]) roof[$2] = $6 + 0
    if ($1 == "ebb") { rates[$2] = rates[$2] " " $5 * $6; ++rated[$2] }
  }
}
# Prints a row of the CSV, or of the table, in which a missing cell is a dash.
function row(   i) {
  if (csv) {
    for (i = 1; i <= columns; ++i) printf "%s%s", cell[i], i < columns ? "," : "\n"
    return
  }
  printf "%-42s %-8s", cell[1], cell[2]
  for (i = 3; i <= columns; ++i) printf " %11s", cell[i] == "" ? "-" : cell[i]
  print ""
}
function titled(name) { return !csv && name == "torch" ? "libtorch" : !csv && name == "eager" ? "PyTorch" : name }
END {
  side[0] = "ebb"
  columns = sides + 5
  cell[1] = "workload"; cell[2] = "unit"
  for (s = 0; s <= sides; ++s) cell[s + 3] = titled(side[s])
  cell[columns - 1] = "ratio"; cell[columns] = csv ? "of_roof" : "of roof"
  row()
  for (i = 1; i <= names; ++i) {
    name = cell[1] = order[i]
    cell[2] = unit[name]
    best = ours = ""
    for (s = 0; s <= sides; ++s) {
      count = counts[side[s], name]
      value = count ? median(samples[side[s], name], count) : ""
      cell[s + 3] = value == "" ? "" : sprintf("%.4g", value)
      if (s == 0) ours = value
      else if (side[s] != "replay" && value != "" && (best == "" || value + 0 < best + 0)) best = value
    }
    less_is_better = unit[name] ~ /^([mu]s|MiB)/
    cell[columns - 1] = less_is_better && ours != "" && best + 0 > 0 ? sprintf("%.3f", ours / best) : ""
    share = rated[name] ? median(rates[name], rated[name]) / roof[name] : ""
    cell[columns] = share == "" ? "" : csv ? sprintf("%.3f", share) : sprintf("%.0f %%", 100 * share)
    row()
  }
}
