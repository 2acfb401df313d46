// Copies of arrays below autograd: between layouts, dtypes and devices.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/options.h>
#include <ebb/core/scalar.h>

namespace ebb::ops {

/// The device with its index filled in: the current one for CUDA, none for the CPU. Loads the backend if need
/// be.
Device resolve_device(Device device);

/// x's dimensions by their place in memory, the innermost first.
DimVector memory_order(const NdArray& x);

/// The strides of a fresh tensor made after `like` in a memory format; nullopt and Preserve keep the order of
/// its dimensions in memory, without gaps or overlap.
DimVector strides_like(const NdArray& like, optional<MemoryFormat> format);

/// Uninitialised, in the layout of strides_like().
NdArray empty_array_like(const NdArray& like, DType dtype, Device device,
                         optional<MemoryFormat> format = nullopt);

/// out = x, converted and moved; x has out's shape. The two must not overlap. With `non_blocking` the host
/// does not wait for copies from and to pinned memory.
void copy_array(NdArray& out, const NdArray& x, bool non_blocking = false);

/// Whether the elements lie in the order that the format asks for.
bool has_format(const NdArray& x, MemoryFormat format);

/// Throws unless an integer dtype can hold the value.
void check_fits(const char* op, const Scalar& value, DType dtype);

}  // namespace ebb::ops
