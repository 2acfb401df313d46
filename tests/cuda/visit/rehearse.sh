# Runs the three calls with an emulated bundle, in a folder that imitates the machine, with fake tools (call rehearse).
# The result files go to OUT.

source "$tests/machine_folder.sh"
[[ -d $bundle ]] || { echo "there is no bundle in $bundle: tests/cuda/visit/run bundle -p $preset" >&2; exit 1; }
folder=$(mktemp -d "$root/build/machine.XXXXXX")
trap 'rm -rf "$folder"' EXIT
make_machine "$folder" && add_tree "$folder" || exit 1
cp "$tests/rehearsal/compute-sanitizer" "$tests/rehearsal/ncu" "$folder/usr/bin/"
mkdir -p "$out" "$keep"
for each in first second third; do
  printf '\n==== %s\n' "$each"
  on_machine "$folder" EBB_GPU_ONLY="${EBB_GPU_ONLY-}" /usr/bin/bash /srv/visit/tests/cuda/visit/run "$each" -p "$preset" -o /tmp/out -m "$minutes"
  cp "$folder"/tmp/out/* "$out/" && rm -rf "$folder/tmp/out"
done
write_report "$out" >"$out/report.md"
