# Collects a bundle from a build folder: bin/, lib/ and the files to build it again elsewhere.

programs="plugin_probe test_cuda test_optable_cuda random_programs device_tour cpu_vs_gpu train_cnn"
programs+=" bench_host_cost bench_bandwidth bench_gemm bench_conv bench_steps"
packages="libeigen3-dev catch2 nlohmann-json3-dev libfmt-dev libfmt9 libcli11-dev zlib1g-dev zlib1g libminizip-dev libminizip1"

# collect BUILD BUNDLE: programs, library and plugin, stripped.
collect() {
  local build=$1 to=$2 name file
  rm -rf "$to"
  mkdir -p "$to/bin" "$to/lib"
  for name in $programs; do
    file=$(find "$build" -type f -name "$name" -perm -u+x -not -path "$to/*" -print -quit)
    [[ -n $file ]] || { echo "no program $name in $build" >&2; return 1; }
    cp "$file" "$to/bin/"
  done
  for file in "$build"/src/libebb.so.?.? "$build/src/libebb_cuda.so"; do
    cp -L "$file" "$to/lib/" || return 1
  done
  strip "$to"/bin/* "$to"/lib/*.so*
}

# Libraries of the C++ compiler and Debian other than the C library, for a machine with older ones or none.
collect_spares() {
  local library
  mkdir -p "$1"
  for library in libstdc++.so.6 libgcc_s.so.1 libz.so.1 libminizip.so.1; do
    cp -L "$(ldd "$bundle/lib/libebb_cuda.so" "$bundle"/lib/libebb.so* | awk -v l="$library" '$1 == l { print $3; exit }')" "$1/"
  done
}

# The headers and CMake files of the packages that ebb needs to build.
pack_headers() {
  local package
  for package in $packages; do dpkg-query -L "$package" >/dev/null 2>&1 || return 1; done
  # shellcheck disable=SC2086
  dpkg-query -L $packages | grep -E '^/usr/(include|lib|share/(eigen3|cmake|pkgconfig|nlohmann))|^/lib/' | sort -u |
    while read -r file; do [[ -d $file ]] || echo "$file"; done |
    XZ_OPT=-9 tar -C / --no-recursion -cJf "$1" -T - 2>/dev/null
}

# write_manifest BUNDLE: the commit, and size and sha256 of every file.
write_manifest() {
  (
    cd "$1" || exit 1
    printf 'commit %s%s\n' "$(git -C "$root" rev-parse HEAD)" "$([[ -z $(git -C "$root" status --porcelain) ]] || echo ' and changes')"
    printf 'preset %s, %s, %s\n' "$preset" "$(c++ --version | head -1)" "$(/usr/local/cuda/bin/nvcc --version 2>/dev/null | tail -1)"
    printf 'files, bytes and sha256\n'
    find . -type f ! -name MANIFEST -printf '%P\n' | sort | while read -r file; do
      printf '%s %d %s\n' "$file" "$(stat -c %s "$file")" "$(sha256sum "$file" | cut -d' ' -f1)"
    done
  ) >"$1.manifest" && mv "$1.manifest" "$1/MANIFEST"
}
