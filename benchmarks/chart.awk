# Converts the CSV of table.awk to an SVG chart with a row for each workload and a dot for each other side. The position
# of a dot is the speed of ebb relative to that side, on a logarithmic scale. ebb is faster for dots to the right of the
# line at 1.
function log2(x) { return log(x) / log(2) }
function across(times,   at) {  # the x coordinate of a ratio
  at = log2(times)
  return left + (at < low ? low : at > high ? high : at) * step - low * step
}
function escaped(text) { gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); return text }
BEGIN {
  FS = ","
  low = -2; high = 5; step = 80; left = 330; line = 15; top = 56
  split("#1f5fa8 #c4561a #2f8f4e #8a4fa3 #8f7a1c #3b3b3b", colour, " ")
}
NR == 1 {
  for (i = 4; i <= NF - 2; ++i) side[++sides] = $i
  next
}
{
  if ($2 !~ /^[mu]s/ || $3 + 0 <= 0) next
  dots = ""
  for (s = 1; s <= sides; ++s)
    if ($(s + 3) + 0 > 0 && side[s] != "replay")
      dots = dots sprintf("<circle cx=\"%.1f\" cy=\"%d\" r=\"4\" fill=\"%s\"><title>%s: %.2f</title></circle>\n",
                          across($(s + 3) / $3), top + rows * line, colour[s], side[s], $(s + 3) / $3)
  if (dots == "") next
  body = body sprintf("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - 12, top + rows * line + 4, escaped($1)) dots
  ++rows
}
END {
  right = left + (high - low) * step
  bottom = top + rows * line
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n",
         right + 30, bottom + 20
  printf "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
  for (s = 1; s <= sides; ++s)
    printf "<circle cx=\"%d\" cy=\"14\" r=\"4\" fill=\"%s\"/><text x=\"%d\" y=\"18\">times as fast as %s</text>\n",
           left + (s - 1) * 190, colour[s], left + (s - 1) * 190 + 9, escaped(side[s])
  for (at = low; at <= high; ++at) {
    x = left + (at - low) * step
    printf "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\"/><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
           x, top - 12, x, bottom, at == 0 ? "black" : "#ccc", x, top - 18, at < 0 ? "1/" 2 ^ -at : 2 ^ at
  }
  printf "%s</svg>\n", body
}
