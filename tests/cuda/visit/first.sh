# The first call on the machine: does the bundle start, a tour of the device, all cases, and a second run of failures.

begin_call
start_bundle || finish_call 1
cores=$(nproc)
step device_tour 60 12 "$bundle/bin/device_tour"

listed risky | pool risky "$cores" 60
# Two devices are rare, so their cases run early; with one device they are among the others.
if (($(devices_there) > 1)); then
  paired() { two_device_cases; }
  two_device_cases | pool two_devices $(((cores + 1) / 2)) 60
else
  paired() { :; }
  record two_devices absent 0 "this machine has one device" -
  say "two_devices: this machine has one device"
fi
not_yet() { grep -vxF -f <(listed risky; paired); }
{ device_cases own; row_cases own; capture_cases own; } | not_yet | per_process=10 pool own "$cores" 60
# Random programs, a share for each processor.
share=$(small 20 || echo 100)
# shellcheck disable=SC2016
step random_programs 100 40 bash -o pipefail -c 'seq 1 "$2" "$(($1 * $2))" | xargs -P "$1" -I{} "$3" --cuda --seed {} --count "$2"' _ \
  "$cores" "$((share))" "$bundle/bin/random_programs"
{ device_cases plans; row_cases plans; capture_cases plans; } | not_yet | per_process=4 pool plans "$cores" 90
device_cases alone | pool alone 1 90

failed_in "$results" risky two_devices own alone plans | CUDA_LAUNCH_BLOCKING=1 pool again $(((cores + 1) / 2)) 40
if sanitizer=$(tool_path compute-sanitizer); then
  failed_in "$results" again | head -16 | EBB_CUDNN=0 EBB_CUDA_ALLOCATOR=async pool again_memcheck 4 120 \
    "$sanitizer" --tool memcheck --report-api-errors no --error-exitcode 9
else
  record again_memcheck absent 0 "compute-sanitizer is not on this machine" -
fi
finish_call 0
