# Shell functions of tests/run and python_free_examples/run. They need nothing but bash and Debian's own tools.

say() { printf '== %s\n' "$*"; }

# Installs those of the named packages that are missing; silent, and without network, when none is.
install_packages() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) == "install ok installed" ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || { say "please run as root: apt-get install ${missing[*]}"; return 1; }
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

has_nvcc() { [[ -n $(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null) ]]; }

# Ends the script where there is no nvcc.
require_nvcc() {
  ! has_nvcc || return 0
  say "--cuda needs NVIDIA's CUDA toolkit (nvcc), which Debian 12 does not have: developer.nvidia.com/cuda-downloads"
  exit 1
}

# A second clone of the same sources finds the first one's objects.
share_ccache() {
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$1} CCACHE_NOHASHDIR=1
}
