# Shell functions of tests/run and python_free_examples/run. They need nothing but bash and Debian's own tools.

say() { printf '== %s\n' "$*"; }

# apt ARGUMENTS...: apt-get as root. It waits five minutes for another apt to end, also where apt-get itself gives up at once.
apt() {
  local as_root=() said deadline=$((SECONDS + 300))
  ((EUID == 0)) || as_root=(sudo)
  until said=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq "$@" 2>&1 >/dev/null); do
    if [[ $said != *"Could not get lock"* ]] || ((SECONDS >= deadline)); then
      printf '%s\n' "$said" >&2
      return 1
    fi
    sleep 5
  done
}

# Installs those of the named packages that are missing; silent, and without apt, when none is.
install_packages() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) == "install ok installed" ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    say "please run as root: apt-get install ${missing[*]}"
    return 1
  fi
  say "installing ${missing[*]}"
  apt update && apt install -y --no-install-recommends "${missing[@]}"
}

has_nvcc() { [[ -n $(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) ]]; }

# Ends the script where there is no nvcc.
require_nvcc() {
  ! has_nvcc || return 0
  say "--cuda needs NVIDIA's CUDA toolkit (nvcc), which Debian 12 does not have: developer.nvidia.com/cuda-downloads"
  exit 1
}
