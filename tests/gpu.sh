#!/usr/bin/env bash
# All that needs a GPU, for a machine that is lent for half an hour, without network and without our packages.
#   tests/gpu.sh bundle [-p PRESET]        here: builds what runs there into build/PRESET/bundle (gpu-bundle)
#   tests/gpu.sh check [-p PRESET]         here: starts the bundle in a folder that stands for that machine
#   tests/gpu.sh rehearse [-p PRESET]      here: the three calls there, over the emulation (emu)
#   tests/gpu.sh first|second|third [-p PRESET | -b BUNDLE] [-o OUT] [-m MINUTES]
#                                          there: cases; sanitizers and ebb's figures; repairs, PyTorch, profile
#   tests/gpu.sh report [-o OUT]           anywhere: report.md from whatever a call has left in OUT, killed or not
# OUT (default: $OUT, or build/gpu) receives a few files named CALL.*; docs/gpu-verification.md shows them.
# build/gpu (EBB_GPU_KEEP) keeps what calls hand on: the third repeats what failed in the first. EBB_GPU_ONLY: an
# expression that cases must match; EBB_GPU_LIMIT: seconds for each in place of the stage's own; EBB_GPU_SECONDS: for the call.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
call=${1:-help}
(($# == 0)) || shift
preset=gpu-bundle bundle= minutes=9 out=${OUT:-$root/build/gpu}
[[ $call != rehearse ]] || preset=emu
while getopts "p:b:o:m:" option; do
  case $option in
    p) preset=$OPTARG ;;
    b) bundle=$(realpath -m "$OPTARG") ;;
    o) out=$(realpath -m "$OPTARG") ;;
    m) minutes=$OPTARG ;;
    *) call=help ;;
  esac
done
bundle=${bundle:-$root/build/$preset/bundle}
keep=${EBB_GPU_KEEP:-$root/build/gpu}
source "$root/tests/gpu/common.sh"
case $call in
  bundle | check | rehearse | first | second | third | report) source "$root/tests/gpu/$call.sh" ;;
  *) sed -n '2,13s/^# //p' "$0"; [[ $call == help ]]; exit $((2 * $?)) ;;
esac
