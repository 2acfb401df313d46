# A report of all calls from the files they left in OUT, whether or not they came to their end (call report).

write_report "$out" >"$out/report.md" && cat "$out/report.md"
