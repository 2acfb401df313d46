# Builds the bundle again on the machine if the packed one does not start, with the headers in it.

build_there() {
  local build=$keep/build prefix=$keep/headers options=() cudnn
  source "$tests/collect.sh"
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
