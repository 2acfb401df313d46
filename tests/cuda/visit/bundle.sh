# Builds what runs on a machine with a GPU and collects it in one ignored folder (call bundle).

most=$((60 * 1024 * 1024))
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
size=$(du -sb "$bundle" | cut -f1)
sed -n '1,3p' "$bundle/MANIFEST"
say_here "$bundle: $((size / 1048576)) MiB; the sources: $(($(git ls-files -z | xargs -0 du -cb | tail -1 | cut -f1) / 1048576)) MiB"
if ((size > most)); then
  say_here "that is more than $((most / 1048576)) MiB, too much to carry; the largest:"
  (cd "$bundle" && find . -type f -printf '%s %P\n' | sort -rn | head -5)
  exit 1
fi
