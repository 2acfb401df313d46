// read_idx: the IDX format of the MNIST files.
#pragma once

#include <ebb/autograd/variable.h>

#include <string>

namespace ebb::data {

/// Reads an IDX file, gzipped or not: a magic number with the dtype (u8, i8, i16, i32, f32, f64) and the
/// number of dimensions, big-endian sizes, big-endian values. Throws for a file that is truncated, too long
/// or of another format.
EBB_API Variable read_idx(const std::string& path);

}  // namespace ebb::data
