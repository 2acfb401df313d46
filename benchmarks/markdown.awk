# Converts one CSV of table.awk, or two of different numbers of threads, to the table of docs/performance.md. For each
# CSV the table has columns for ebb's figure, ebb's speed relative to the fastest other side, and ebb's share of the
# roof. Memory has a separate table.
# usage: awk -f benchmarks/markdown.awk one.csv [two.csv]
function rounded(value) { return value == "" ? "" : value + 0 >= 1000 ? sprintf("%d", value + 0.5) : value }
BEGIN { FS = "," }
FNR == 1 { ++files; next }
{
  if (!($1 in unit)) { order[++names] = $1; unit[$1] = $2 }
  text = rounded($3) " | " ($(NF - 1) + 0 > 0 ? sprintf("%.2f", 1 / $(NF - 1)) : "")
  cells[$1, files] = $2 == "MiB" ? text : text " | " ($NF == "" ? "" : sprintf("%.0f %%", 100 * $NF))
}
function rows(memory,   i, f, line) {
  for (i = 1; i <= names; ++i) {
    if ((unit[order[i]] == "MiB") != memory) continue
    line = "| `" order[i] "` | " unit[order[i]]
    for (f = 1; f <= files; ++f) line = line " | " ((order[i], f) in cells ? cells[order[i], f] : memory ? " | " : " |  | ")
    print line " |"
  }
}
function heading(each,   f, line) {
  line = "| | unit"
  for (f = 1; f <= files; ++f) line = line " | " each
  print line " |"
  gsub(/[^|]+/, "---", line)
  print line "|"
}
END {
  heading("ebb | others / ebb | of roof")
  rows(0)
  print ""
  heading("ebb | others / ebb")
  rows(1)
}
