// copy_array: copies between arrays of any two devices; resolve_device; constants of captured graphs.
#pragma once

#include <ebb/core/ndarray.h>

namespace ebb::ops {

/// Returns the device with its index: the current device for CUDA, none for the CPU. Loads the backend on
/// first use.
Device resolve_device(Device device);

/// Copies x to out with conversion, possibly between devices. Both have the same shape and do not overlap.
/// With `non_blocking` the host does not wait for copies from and to pinned memory.
void copy_array(NdArray& out, const NdArray& x, bool non_blocking = false);

/// Copies numbers that the calling op created on the host, and that no other code can change, so that a
/// captured graph may treat them as constants. They are copied to memory of the graph before its first
/// replay, and each replay copies them from there.
void copy_constant(NdArray& out, const NdArray& numbers);

}  // namespace ebb::ops
