# Collects a bundle from a build folder: bin/, lib/ and the files to build it again elsewhere; and builds it there.

programs="plugin_probe test_cuda test_optable_cuda random_programs device_tour cpu_vs_gpu train_cnn"
programs+=" bench_host_cost bench_bandwidth bench_gemm bench_conv bench_steps"
packages="libeigen3-dev catch2 nlohmann-json3-dev libfmt-dev libfmt9 libcli11-dev zlib1g-dev zlib1g libminizip-dev libminizip1"
packages+=" libjpeg62-turbo-dev libjpeg62-turbo libpng-dev libpng16-16"

# collect BUILD BUNDLE: programs, libraries and plugin, stripped.
collect() {
  local build=$1 to=$2 name file
  rm -rf "$to"
  mkdir -p "$to/bin" "$to/lib"
  for name in $programs; do
    file=$(find "$build" -type f -name "$name" -perm -u+x -not -path "$to/*" -print -quit)
    [[ -n $file ]] || { echo "no program $name in $build" >&2; return 1; }
    cp "$file" "$to/bin/"
  done
  for file in "$build"/src/libebb.so.?.? "$build"/src/{vision/libebb_vision,watch/libebb_watch}.so.?.? "$build/src/libebb_cuda.so"; do
    cp -L "$file" "$to/lib/" || return 1
  done
  strip "$to"/bin/* "$to"/lib/*.so*
}

# Libraries of the C++ compiler and Debian other than the C library, for a machine with older ones or none.
collect_spares() {
  local library
  mkdir -p "$1"
  for library in libstdc++.so.6 libgcc_s.so.1 libz.so.1 libminizip.so.1 libjpeg.so.62 libpng16.so.16; do
    cp -L "$(ldd "$bundle"/lib/libebb*.so* | awk -v l="$library" '$1 == l { print $3; exit }')" "$1/"
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

# Builds the bundle again on the machine if the packed one does not start, with the headers in it.
build_there() {
  local build=$keep/build prefix=$keep/headers options=() cudnn
  say "building here, with warnings allowed"
  if [[ -e $bundle/headers.tar.xz ]]; then
    mkdir -p "$prefix"
    tar -C "$prefix" -xJf "$bundle/headers.tar.xz" || return 1
    # Links to absolute paths refer to files of the packages.
    find "$prefix" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do ln -sf "$prefix$target" "$link"; done
    options+=(-DCMAKE_PREFIX_PATH="$prefix/usr")
  fi
  command -v cmake >/dev/null || { say "there is no cmake to build with"; return 1; }
  if command -v ninja >/dev/null; then options+=(-G Ninja); fi
  cudnn=$(library_folders | grep -m1 /cudnn/lib) && export CUDNN_ROOT=${cudnn%/lib}
  step configure 90 15 cmake -S "$root" -B "$build" "${options[@]}" -DCMAKE_BUILD_TYPE=Release -DEBB_WERROR=OFF \
    -DEBB_CUDA="${EBB_GPU_CUDA:-ON}" -DCMAKE_CUDA_ARCHITECTURES=90-real -DEBB_BUILD_BENCHMARKS=ON || return 1
  # shellcheck disable=SC2086
  step build $(($(left) - 60)) 15 cmake --build "$build" -j "$(nproc)" --target $programs ebb ebb_cuda || return 1
  # The folder of the call: the next call finds it while the machine is held.
  bundle=$keep/bundle
  collect "$build" "$bundle" && write_manifest "$bundle"
}
