# Builds the programs for a machine with a GPU and collects them in one ignored folder (call bundle).

source "$root/cmake/debian.sh"
source "$tests/collect.sh"
cd "$root" || exit 1
say_here() { printf '== %s\n' "$*"; }

say_here "building the preset $preset"
cmake --preset "$preset" --log-level=NOTICE || exit 1
# shellcheck disable=SC2086
cmake --build "build/$preset" -j "${EBB_GPU_JOBS:-$(nproc)}" --target $programs ebb ebb_cuda || exit 1

collect "$root/build/$preset" "$bundle" || exit 1
collect_spares "$bundle/lib/spare"
pack_headers "$bundle/headers.tar.xz" || say_here "without headers: packages of Debian are missing, so nothing can be built there"
write_manifest "$bundle"
sed -n '1,3p' "$bundle/MANIFEST"
XZ_OPT='-6 -T0' tar -C "$bundle" --sort=name -cJf "$bundle.tar.xz" . || exit 1

# The sources and files that calls keep are sent too; the limit for all is 64 MiB.
bytes_of() { du -scb "$@" 2>/dev/null | tail -1 | cut -f1; }
sources=$(git ls-files -z --cached --others --exclude-standard | xargs -0 du -cb | tail -1 | cut -f1)
size=$(bytes_of "$bundle.tar.xz")
most=$((64 * 1048576 - sources - $(bytes_of "$keep") - 1048576))
say_here "$bundle.tar.xz: $((size / 1048576)) MiB of $((most / 1048576)); unpacked $(($(bytes_of "$bundle") / 1048576)) MiB"
if ((size > most)); then
  say_here "that is too much to carry; the largest:"
  (cd "$bundle" && find . -type f -printf '%s %P\n' | sort -rn | head -5)
  exit 1
fi
