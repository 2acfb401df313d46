# The calls check and rehearse, in a folder that imitates a machine with a GPU: a C library, a shell and its tools, the
# toolkit in its usual place, and no packages of ours. All files are linked and not copied, if the file system allows it.

machine_commands="bash env mawk sed grep ls cat cp mv rm ln mkdir mktemp head tail tr cut sort paste wc stat tee timeout
  setsid xargs sleep tar gzip dirname realpath basename nproc ldconfig date find du seq uname id true sha256sum"

link_into() { mkdir -p "$2" && { cp -lL "$1" "$2/" 2>/dev/null || cp -L "$1" "$2/"; }; }
place() { link_into "$2" "$1$(dirname "$2")"; }

# make_machine FOLDER: the files of a bare machine.
make_machine() {
  local to=$1 name file library
  mkdir -p "$to"/{dev,proc,tmp,usr/bin,usr/lib,usr/lib64,etc} || return 1
  for name in bin lib lib64; do ln -sfn "usr/$name" "$to/$name"; done
  for name in $machine_commands; do
    file=$(realpath "$(type -P "$name" || ls /sbin/"$name" /usr/sbin/"$name" 2>/dev/null | head -1)")
    cp "$file" "$to/usr/bin/$name"
    for library in $(ldd "$file" 2>/dev/null | grep -oE '/[^ ]+'); do place "$to" "$library"; done
  done
  ln -sf mawk "$to/usr/bin/awk"
  ln -sf bash "$to/usr/bin/sh"
  cp "$(command -v ldd)" "$to/usr/bin/"
  # The whole C library, and the C++ library, which every machine with a compiler has.
  for library in libstdc++.so.6 libgcc_s.so.1 libm.so.6 libmvec.so.1 libdl.so.2 libpthread.so.0 librt.so.1; do
    file=$(ldconfig -p | awk -v l="$library" '$1 == l && /x86-64/ { print $NF; exit }')
    [[ -z $file ]] || place "$to" "$file"
  done
}

# add_toolkit FOLDER: NVIDIA's libraries, half of them as in a toolkit, and cuDNN as in the Python package.
add_toolkit() {
  local to=$1 file
  for file in /usr/local/cuda/lib64/lib{cudart,cublas,cublasLt,nvrtc,nvJitLink}*.so.*; do
    [[ ! -e $file ]] || link_into "$file" "$to/usr/local/cuda/lib64" || return 1
  done
  for file in /usr/local/cuda/lib64/libcudnn*.so.9; do
    [[ ! -e $file ]] || link_into "$file" "$to/opt/python/lib/python3.12/site-packages/nvidia/cudnn/lib" || return 1
  done
}

# add_tree FOLDER: the sources as they are sent and the bundle, both below another path than here.
add_tree() {
  mkdir -p "$1/srv/visit/build/$preset"
  (cd "$root" && git ls-files -z --cached --others --exclude-standard | tar -c --null -T -) | tar -C "$1/srv/visit" -x &&
    cp -r "$bundle" "$1/srv/visit/build/$preset/bundle"
}

# on_machine FOLDER COMMAND...: runs it there with an empty environment, in separate namespaces.
on_machine() {
  local folder=$1 user=()
  shift
  ((EUID == 0)) || user=(--user --map-root-user)
  unshare "${user[@]}" --mount --pid --fork bash -c '
    mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" || exit 125
    exec chroot "$0" /usr/bin/env -i PATH=/usr/bin OUT=/tmp/out "$@"' "$folder" "$@"
}

# Starts the bundle in a folder that imitates the machine (call check): every library except the driver's is found, each
# program starts, and the plugin reports only that there is no driver. For an emulated bundle, checks that it works.
check_call() {
  [[ -d $bundle ]] || { echo "there is no bundle in $bundle: tests/cuda/visit/run bundle" >&2; exit 1; }
  folder=$(mktemp -d "$root/build/machine.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  make_machine "$folder" && add_toolkit "$folder" && add_tree "$folder" || exit 1
  on_machine "$folder" /usr/bin/bash /srv/visit/tests/cuda/visit/check_there.sh "$preset"
}

# Runs the three calls with an emulated bundle, in a folder that imitates the machine, with fake tools (call rehearse).
# The result files go to OUT.
rehearse_call() {
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
}
