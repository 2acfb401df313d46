# Writes a report of all calls from their files in OUT, even if they did not finish (call report).

write_report "$out" >"$out/report.md" && cat "$out/report.md"
