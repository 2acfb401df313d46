# Detects the machine's libraries, tools and device, and makes the bundle start there.

# Folders of NVIDIA's libraries: the toolkit, then Python packages, then the driver if the loader does not know its
# folder.
library_folders() {
  local nvcc found site
  nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
  for found in ${nvcc:+"$(dirname "$(dirname "$(realpath "$nvcc")")")"} /usr/local/cuda; do
    ls -d "$found"/lib64 "$found"/lib "$found"/targets/*/lib 2>/dev/null
  done
  for site in $(python3 -c 'import sys; print(*sys.path)' 2>/dev/null) /usr/lib/python3*/site-packages \
    /usr/local/lib/python3*/*-packages /opt/*/lib/python3*/site-packages /opt/*/.venv/lib/python3*/site-packages; do
    ls -d "$site"/nvidia/*/lib 2>/dev/null
  done
  ldconfig -p 2>/dev/null | grep libcuda.so.1 >/dev/null || ls -d /usr/local/nvidia/lib64 /usr/local/nvidia/lib 2>/dev/null
}

# The libraries that the bundle needs and the loader does not find, in one line; the driver library does not count.
missing_libraries() {
  local file
  for file in "$bundle"/bin/* "$bundle"/lib/*.so*; do
    ldd "$file" 2>&1 | grep 'not found' | grep -v 'libcuda\.so'
  done | sed -E 's/^[[:space:]]+//; s/ => not found//' | sort -u | paste -sd, | sed 's/,/, /g'
}

use_libraries() {
  local folders
  folders=$(library_folders | awk '!seen[$0]++' | paste -sd:)
  export LD_LIBRARY_PATH=$bundle/lib${folders:+:$folders}${1:+:$1}
}

# Prints in one line whether there is a device that ebb can use; loads every library of the program.
probe() { timeout -k 5 60 "$bundle/bin/plugin_probe" 2>&1 | tail -1; }

# The number of devices in the last probe result.
devices_there() { awk -F'\t' '$2 == "probe" && $5 ~ / devices,/ { n = $5; sub(/ devices,.*/, "", n); sub(/.* /, "", n) } END { print n + 0 }' "$results"; }

# Checks with the manifest that the received files are the built ones.
check_manifest() {
  [[ -e $bundle/MANIFEST ]] || return 0
  (cd "$bundle" && sed '1,3d' MANIFEST | awk '{ print $3 "  " $1 }' | sha256sum -c --quiet 2>&1 | head -5)
}

# Unpacks the received bundle into the folder that programs run in. A machine that is still held has the folder of an
# earlier call, which a newer bundle replaces.
unpack_bundle() {
  [[ -s $bundle.tar.xz && ! $bundle -nt $bundle.tar.xz ]] || return 0
  rm -rf "$bundle" && mkdir -p "$bundle"
  tar -C "$bundle" -xJf "$bundle.tar.xz" 2>/dev/null || python3 -m tarfile -e "$bundle.tar.xz" "$bundle" || rm -rf "$bundle"
  [[ ! -d $bundle ]] || touch "$bundle"  # tar sets the date of the build
}

# Leaves a bundle that starts, or prints why there is none.
start_bundle() {
  local said missing
  [[ ! -d $keep/bundle ]] || bundle=$keep/bundle  # an earlier call built it here
  describe_machine >"$logs/machine.log" 2>&1
  tee -a "$transcript" <"$logs/machine.log"
  if [[ -d $bundle ]]; then
    chmod +x "$bundle"/bin/* 2>/dev/null  # a transfer may lose the permissions
    missing=$(check_manifest)
    [[ -z $missing ]] || say "not as it was built: $missing"
    use_libraries
    missing=$(missing_libraries)
    if [[ -n $missing ]]; then  # the bundle contains libstdc++ and zlib for this case
      say "not found, so that the bundle's own are used: $missing"
      use_libraries "$bundle/lib/spare"
      missing=$(missing_libraries)
    fi
    say "libraries: ${missing:-all found}"
    said=$(probe)
    say "probe: $said"
    [[ $said != *", available" ]] || { record probe passed 0 "$said" machine.log; return 0; }
    # A device on which the first op fails: the cases will show which ops work.
    [[ $said != *", available"* ]] || { record probe failed 0 "$said" machine.log; return 0; }
    if [[ $said =~ "no NVIDIA driver"|"no CUDA device"|"older than the runtime" ]]; then
      record probe failed 0 "$said" machine.log
      return 1
    fi
  else
    say "there is no bundle in $bundle"
  fi
  source "$tests/collect.sh"
  build_there || { record probe failed 0 "the bundle does not start and could not be built" build.log; return 1; }
  use_libraries
  said=$(probe)
  say "probe of what was built here: $said"
  [[ $said == *", available"* ]] && record probe passed 0 "built there: $said" machine.log
}

describe_machine() {
  local tool
  nvidia-smi --query-gpu=name,driver_version,memory.total,memory.used --format=csv,noheader 2>/dev/null || echo "no nvidia-smi"
  (($(nvidia-smi -L 2>/dev/null | wc -l) < 2)) || nvidia-smi topo -m  # how two devices are linked
  printf '%s, %s processors, %s\n' "$(sed -n '/^model name/{s/^[^:]*: //p;q}' /proc/cpuinfo)" "$(nproc)" \
    "$(sed -n 's/^PRETTY_NAME=//p' /etc/os-release 2>/dev/null)"
  for tool in nvcc g++ cmake ninja compute-sanitizer ncu python3; do
    printf '%s: %s\n' "$tool" "$(tool_path "$tool" || echo absent)"
  done
  python3 -c 'import torch; print("torch", torch.__version__, torch.cuda.is_available())' 2>/dev/null || echo "no torch"
}

# The path of a tool that may be outside PATH; fails if it is absent.
tool_path() {
  command -v "$1" && return
  ls /usr/local/cuda/bin/"$1" /opt/nvidia/nsight-compute/*/"$1" 2>/dev/null | tail -1 | grep .
}
