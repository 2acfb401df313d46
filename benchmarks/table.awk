# Lines of "SIDE NAME VALUE UNIT" to a table of medians: a row for each name, a column for each side that was run, and
# for times the ratio of ebb to the fastest other.
function median(list, count,   values, i, j, swap) {
  split(list, values, " ")
  for (i = 1; i < count; ++i)
    for (j = i + 1; j <= count; ++j)
      if (values[j] + 0 < values[i] + 0) { swap = values[i]; values[i] = values[j]; values[j] = swap }
  return values[int((count + 1) / 2)]
}
{
  if (!($2 in unit)) { order[++names] = $2; unit[$2] = $4 }
  ran[$1] = 1
  samples[$1, $2] = samples[$1, $2] " " $3
  ++counts[$1, $2]
}
END {
  all = split("ebb torch eager compiled", side, " ")
  title["ebb"] = "ebb"; title["torch"] = "libtorch"; title["eager"] = "PyTorch"; title["compiled"] = "compiled"
  printf "%-40s %-8s", "workload", "unit"
  for (s = 1; s <= all; ++s) if (ran[side[s]] || s <= 2) printf " %11s", title[side[s]]
  printf " %8s\n", "ratio"
  for (i = 1; i <= names; ++i) {
    name = order[i]
    best = ""
    printf "%-40s %-8s", name, unit[name]
    for (s = 1; s <= all; ++s) {
      if (!ran[side[s]] && s > 2) continue
      value = counts[side[s], name] ? median(samples[side[s], name], counts[side[s], name]) : ""
      printf " %11s", value == "" ? "-" : sprintf("%.4g", value)
      if (s == 1) ours = value
      else if (value != "" && (best == "" || value + 0 < best + 0)) best = value
    }
    is_time = unit[name] ~ /^[mu]s/
    printf " %8s\n", is_time && ours != "" && best != "" ? sprintf("%.3f", ours / best) : "-"
  }
}
