// Accepted findings, which are known not to be faults, each with its reason. All other faults are still
// reported for these kernels.
#pragma once

namespace ebb::ptx {

/// Entries whose mangled names contain `name`, and the reason for the exception.
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
};

/// Entries whose vector loads of shared memory may include unwritten elements, which are not used.
inline constexpr AcceptedEntry kPaddedEntries[] = {
    {"14forward_kernelI", "attention's tiles have an element behind each row, which keeps the banks apart"},
    {"12query_kernelI", "the same tiles"},
    {"10key_kernelI", "the same tiles"},
    {"11mask_kernelI", "the same tiles"},
};

}  // namespace ebb::ptx
