// Copies between arrays of any two devices, and where a fresh one goes.
#pragma once

#include <ebb/core/ndarray.h>

namespace ebb::ops {

/// The device with its index filled in: the current one for CUDA, none for the CPU. Loads the backend if need
/// be.
Device resolve_device(Device device);

/// out = x, converted and moved; x has out's shape. The two must not overlap. With `non_blocking` the host
/// does not wait for copies from and to pinned memory.
void copy_array(NdArray& out, const NdArray& x, bool non_blocking = false);

/// copy_array of numbers that the calling op made on the host, and that nobody else can change: a graph being
/// captured takes them as they are. They are brought to memory of their own before its first replay, and
/// every replay copies them from there.
void copy_constant(NdArray& out, const NdArray& numbers);

}  // namespace ebb::ops
