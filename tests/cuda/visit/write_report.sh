# Writes the report in Markdown, from results, figures and failures in a folder.

# write_report FOLDER: for every call with files in it.
write_report() {
  local folder=$1 file any=
  printf '# What ran on a GPU\n\n'
  for file in first second third; do [[ ! -e $folder/$file.results.tsv ]] || any+=" $file"; done
  [[ -n $any ]] || { printf 'No results in this folder.\n'; return 1; }
  for file in $any; do
    printf -- '- %s: %s\n' "$file" "$(head -1 "$folder/$file.transcript.txt" | cut -c8-)"
    grep -E '^ *[0-9.]+ probe' "$folder/$file.transcript.txt" | tail -1 | cut -c8- | sed 's/^/  /'
    [[ -e $folder/$file.report.md ]] || printf '  (it did not come to its end)\n'
  done
  cat "$folder"/*.results.tsv | report_stages
  cat "$folder"/*.results.tsv | report_failures
  for file in $any; do cat "$folder/$file.figures.txt"; done 2>/dev/null | report_figures
}

# One line for each stage: the number of planned cases, and their results.
report_stages() {
  printf '\n| call | stage | planned | passed | skipped | failed | crashed | timeout | not run | other |\n|---|---|---|---|---|---|---|---|---|---|\n'
  awk -F'\t' '
    { key = $1 " | " $2; if (!(key in seen)) { seen[key] = 1; order[++keys] = key } }
    $3 == "planned" { planned[key] += $5; next }
    { ++n[key, $3]; ++all[key]; if ($3 !~ /^(passed|skipped|failed|crashed|timeout|not run)$/) other[key] = other[key] " " $3 }
    END {
      split("passed,skipped,failed,crashed,timeout,not run", verdicts, ",")
      for (i = 1; i <= keys; ++i) {
        key = order[i]
        pool = key in planned
        lost = pool ? planned[key] - all[key] : 0  # cases that were killed from outside before a result
        printf "| %s | %s |", key, (pool ? planned[key] : 1)
        for (v = 1; v <= 6; ++v) printf " %s |", n[key, verdicts[v]] ? n[key, verdicts[v]] : "-"
        printf "%s%s |\n", (other[key] ? other[key] : " -"), (lost > 0 ? " " lost " lost" : "")
      }
    }'
}

# Cases that did not pass, each with all its verdicts in the order of the stages.
report_failures() {
  awk -F'\t' '
    $3 == "planned" { next }
    { if (!($5 in first)) { first[$5] = 1; order[++count] = $5 }; said[$5] = said[$5] (said[$5] ? ", " : "") $2 " " $3 }
    $3 ~ /^(failed|crashed|timeout|tool unusable)$/ { bad[$5] = 1 }
    END {
      for (i = 1; i <= count; ++i) if (order[i] in bad) { if (!printed++) print "\n## Did not pass\n"; print "- " order[i] " (" said[order[i]] ")" }
    }'
}

# ebb and PyTorch side by side, and figures below 85 % of the copy bandwidth in the same run.
report_figures() {
  local lines
  lines=$(grep -E '^(ebb|eager) [^ ]+ [0-9.e+-]+ ' || true)
  [[ -n $lines ]] || return 0
  printf '\n## Figures\n\n```\n'
  awk -f "$root/benchmarks/table.awk" <<<"$lines"
  printf '```\n\nBelow 85 %% of the copy: '
  awk '$1 == "ebb" && $2 ~ /\.of_copy$/ && $3 < 0.85 { sub(/\.of_copy$/, "", $2); printf "%s%s %d %%", sep, $2, $3 * 100; sep = ", " }
    END { print sep ? "." : "nothing." }' <<<"$lines"
}
