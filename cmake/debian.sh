# Shell functions for scripts, mainly tests/run and python_free_examples/run. They need bash and Debian's essential
# tools.

say() { printf '== %s\n' "$*"; }

# fail SENTENCE: ends a script that cannot continue. The sentence names the obstacle and says what to do.
fail() {
  say "$*" >&2
  exit 1
}

# misused SENTENCE: the same for a wrong command line.
misused() {
  say "$*; --help shows the usage" >&2
  exit 2
}

# needs_value "$@", needs_number "$@": check the word after an option.
needs_value() { [[ ${2-} ]] || misused "a value must follow $1"; }
needs_number() { [[ ${2-} =~ ^[1-9][0-9]*$ ]] || misused "a number must follow $1"; }

# Packages by purpose, for systems where apt does not know Debian's names.
by_hand="install by hand a compiler (g++ 12 or clang 14), CMake 3.25 and Ninja, with their headers Eigen 3.4, fmt 9, nlohmann-json 3.10, \
zlib and minizip (the library), libjpeg and libpng (images), CLI11 (the examples) and Catch2 (the tests); then \
cmake --preset release && cmake --build build/release && ctest --preset release does the rest"

# Sets as_root to the command prefix that runs a command as root.
become_root() {
  as_root=()
  [[ $(id -u) != 0 ]] || return 0
  local otherwise="run as root: apt-get update && apt-get install -y --no-install-recommends $*, and then this command again"
  command -v sudo >/dev/null || fail "packages are missing, and there is no sudo: $otherwise"
  as_root=(sudo)
  ! sudo -n true 2>/dev/null || return 0
  { : </dev/tty; } 2>/dev/null || fail "packages are missing, and sudo asks for a password, with no terminal to type it: $otherwise"
  sudo -v || fail "packages are missing, and sudo does not let $(id -un) install them: $otherwise"
}

# apt ARGUMENTS...: runs apt-get as root and stores its messages in apt_said. It waits five minutes for another apt
# process to end.
apt() {
  local attempt
  apt_user='another program'
  for ((attempt = 0; attempt < 60; ++attempt)); do
    ! apt_said=$("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq "$@" 2>&1 >/dev/null) || return 0
    [[ $apt_said == *"Could not get lock"* ]] || return 1
    [[ ! $apt_said =~ held\ by\ (process\ [0-9]+\ \([^\)]*\)) ]] || apt_user=${BASH_REMATCH[1]}
    ((attempt > 0)) || say "apt is in use by $apt_user: waiting for up to five minutes"
    sleep 5
  done
  return 1
}

# Installs the missing ones of the named packages; silent and without apt if none is missing.
install_packages() {
  if ! { command -v apt-get && command -v dpkg-query; } >/dev/null; then
    fail "this system has no apt-get, by which this command installs packages: $by_hand"
  fi
  local missing=() package updated
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) == "install ok installed" ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  become_root "${missing[@]}"
  say "installing ${missing[*]}"
  # An update that reaches no server succeeds; its messages are shown only if the packages cannot be installed.
  if apt update && updated=$apt_said && apt install -y --no-install-recommends "${missing[@]}"; then return; fi
  case ${updated-}$apt_said in
    *"Could not get lock"*) fail "apt is still in use by $apt_user: wait until that ends, and run this command again" ;;
    *"No space left on device"* | *"enough free space"*) fail "the disk is full: free 2 GB on the file systems of /usr and /var, and run this command again" ;;
    *resolving* | *[Cc]"ould not connect"* | *[Uu]"nable to connect"* | *"timed out"* | *"unreachable"* | *"Failed to fetch"*)
      fail "apt reaches no server to fetch packages from: connect this machine, or name a proxy or a mirror in /etc/apt, and run this command again" ;;
    *"Unable to locate package"* | *"no installation candidate"*)
      fail "apt has no package$(sed -nE "s/^E: (Unable to locate package|Package) '?([^ ']*).*/ \2/p" <<<"$apt_said" | tr -d '\n') (Debian 12 has it): $by_hand" ;;
    *) fail "apt-get cannot install ${missing[*]}, but says $(sed -n '/^E: /{s///p;q}' <<<"$apt_said"): repair that, and run this command again" ;;
  esac
}

find_nvcc() { command -v nvcc || ls "${CUDA_PATH:-/usr/local/cuda}/bin/nvcc" 2>/dev/null; }
has_nvcc() { find_nvcc >/dev/null; }

# require_nvcc [OPTION]: ends the script if there is no nvcc, which the option (--cuda) needs.
require_nvcc() {
  has_nvcc || fail "${1:---cuda} needs NVIDIA's CUDA toolkit (nvcc), which Debian 12 does not have: install it from developer.nvidia.com/cuda-downloads"
}

# prepare_folder FOLDER MEGABYTES: creates the build folder, and ends the script if there is too little space for a
# first build.
prepare_folder() {
  local free
  if ! mkdir -p "$1" 2>/dev/null || [[ ! -w $1 ]]; then
    fail "$1 cannot be written: clone ebb into a folder of yours, and run this command there"
  fi
  [[ ! -e $1/CMakeCache.txt ]] || return 0
  free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
  ((free >= $2)) || fail "the build takes $2 MB, and $1 has $free MB left: free some, or clone ebb onto a larger disk"
}

# The number of jobs that processors and memory allow, with 1.2 GB for each: the largest source takes a gigabyte.
default_jobs() {
  awk -v jobs="$(nproc)" '/^MemAvailable/ { most = int($2 / 1.2e6); if (most < jobs) jobs = most > 1 ? most : 1 } END { print jobs }' /proc/meminfo
}

# explain FOLDER OUTPUT: ends the script if the output shows an obstacle that is unrelated to the sources.
explain() {
  local needs
  needs=$(awk '/^  ebb needs/ { on = 1 } !/^  / { on = 0 } on' <<<"$2" | tr -s ' \n' ' ')
  [[ ! $needs ]] || fail "${needs# }"
  case $2 in
    *"No space left on device"*) fail "the disk is full: free 1 GB or more on the file systems of $1 and ${TMPDIR:-/tmp}, and run this command again, which continues from here" ;;
    *"Killed signal"* | *"[Killed]"* | *"Killed (program"* | *"command: Killed"* | *"out of memory"* | *"memory exhausted"* | \
      *"memory segment unavailable"* | *"annot allocate memory"*)
      fail "the compiler ran out of memory: run this command again with -j 1, which continues from here, and add swap if that fails, too" ;;
    *"CMakeCache.txt directory"*"is different"*) fail "$1 was configured in another place: remove that folder, and run this command again" ;;
  esac
}

# configure FOLDER ARGUMENTS...: runs cmake, and prints only warnings and errors.
configure() {
  local folder=$1 said version
  shift
  version=$(cmake --version | sed -n '1s/[^0-9]*//p')
  if [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -1) != 3.25 ]]; then
    fail "ebb needs CMake 3.25 or later, and $(command -v cmake) is $version: install a newer one, or remove it if there is another"
  fi
  if said=$(LC_ALL=C cmake "$@" --log-level=WARNING 2>&1 >/dev/null); then
    [[ ! $said ]] || printf '%s\n' "$said" >&2
    return
  fi
  explain "$folder" "$said"
  printf '%s\n' "$said" >&2
  fail "CMake could not configure the build: repair what it says above, and run this command again"
}

# build FOLDER ARGUMENTS...: shows the progress of the build and then its output; that can be pages long, so the
# obstacle comes first.
build() {
  local folder=$1 line said='' status=0
  shift
  # The loop runs in this shell and keeps its variables. (A loop that reads from <(cmake) can lose cmake's exit status:
  # under load, bash 5.2 sometimes forgets such a process before `wait` is called.)
  shopt -s lastpipe
  LC_ALL=C cmake --build "$folder" "$@" 2>&1 | while IFS= read -r line; do
    if [[ ! $line =~ ^\[[0-9]+/[0-9]+\] ]]; then
      said+=$line$'\n'
    elif [[ -t 1 ]]; then
      printf '\r\e[K%s' "${line:0:79}"
    else
      printf '%s\n' "$line"
    fi
  done || status=$?
  shopt -u lastpipe
  [[ ! -t 1 ]] || printf '\r\e[K'
  ((status == 0)) || explain "$folder" "$said"
  printf '%s' "$said" >&2
  ((status == 0)) || fail "the build failed: repair what the compiler says above, and run this command again"
}
