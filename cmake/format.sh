#!/bin/bash
# Formats C++ sources with one pinned version of clang-format, because versions disagree. It is a package of PyPI and is
# installed into build/.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
# shellcheck source=cmake/debian.sh
. cmake/debian.sh

version=19.1.7
folder=build/clang-format-$version

usage() {
  cat <<END
usage: cmake/format.sh [--install | --check | --all | FILE...]
  FILE...     formats these files; without any argument those that differ from the last commit
  --all       formats all sources
  --check     exits with 1 if a source is not formatted, with 77 if clang-format $version is not installed
  --install   only installs clang-format $version into $folder
END
}

sources() { find include src tests python_free_examples benchmarks -type f \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' \) -print0; }

install_formatter() {
  [[ ! -x $folder/bin/clang-format ]] || return 0
  install_packages python3-venv
  python3 -m venv "$folder" && "$folder/bin/pip" --quiet --disable-pip-version-check --retries 1 --timeout 20 install "clang-format==$version" ||
    { rm -rf "$folder"; fail "clang-format $version cannot be installed from PyPI: make PyPI reachable (pip's configuration), and then this command again"; }
}

case ${1-} in
  --help) usage ;;
  --install) install_formatter ;;
  --check)
    [[ -x $folder/bin/clang-format ]] || exit 77
    sources | xargs -0 "$folder/bin/clang-format" --dry-run -Werror
    ;;
  --all)
    install_formatter
    sources | xargs -0 "$folder/bin/clang-format" -i
    ;;
  -*) misused "unknown option $1" ;;
  '')
    install_formatter
    git diff -z --name-only --diff-filter=d HEAD -- '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 -r "$folder/bin/clang-format" -i
    ;;
  *)
    install_formatter
    "$folder/bin/clang-format" -i "$@"
    ;;
esac
