// Findings that are known and are no faults, each with its reason. In these kernels all other faults are
// looked for.
#pragma once

namespace ebb::ptx {

/// Entries whose mangled names contain `name`, and why they may do what others may not.
struct AcceptedEntry {
  const char* name;
  const char* reason;
};

/// Entries that may race in global memory.
inline constexpr AcceptedEntry kUnorderedEntries[] = {
    {"3cub",
     "CUB's look-back: blocks poll, by volatile loads, the totals that the blocks before them publish"},
    {"map_kernel", "a thread past the end loads a unit that another thread writes in place, and drops it"},
    {"channel_run_kernel",
     "a thread past the end loads a unit that another thread writes in place, and drops it"},
    {"7PutRowsI", "index_put_ without accumulate: of values for one place any may stay"},
    {"7ScatterI", "scatter: of values for one place any may stay"},
    {"11PoolScatterI", "max_unpool: windows that overlap name a place twice, with the same value"},
    {"7UnscaleI", "several threads set the flag of gradients that are not finite to the same value"},
};

/// Entries of ebb::cuda::attending that may read shared memory which nobody wrote: kernels without tensor
/// cores, whose tiles have an element behind each row that keeps the banks apart. nvcc reads rows by vectors,
/// and drops that element.
inline constexpr const char* kPaddedNamespace = "9attending";
inline constexpr const char* kPaddedEntries[] = {"14forward_kernelI", "12query_kernelI", "10key_kernelI",
                                                 "11mask_kernelI"};

}  // namespace ebb::ptx
