// NumPy's files: .npy contains one array, .npz an archive of arrays (numpy.lib.format, versions 1.0 to 3.0).
#pragma once

#include <ebb/autograd/variable.h>

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace ebb::npy {

using NamedTensors = std::vector<std::pair<std::string, Variable>>;

/// Reads a .npy file like numpy.load(path). Accepts bool, int8 to int64, uint8, float16, float32 and float64,
/// in either byte order, in C or Fortran order. An array in Fortran order gets the corresponding strides.
/// Throws for a file that is truncated or of another format. Also throws for arrays of objects, strings,
/// structures, complex numbers and wider unsigned integers, and says to which dtype they must be converted.
EBB_API Variable read(const std::string& path);
EBB_API Variable read(std::istream& stream);
/// Reads a .npy file from bytes in memory.
EBB_API Variable parse(const void* bytes, std::size_t size);

/// Writes a .npy file like numpy.save(path, array), version 1.0, atomically like safetensors::write. Throws
/// for bfloat16, which NumPy does not have.
EBB_API void write(const std::string& path, const Variable& tensor);
EBB_API void write(std::ostream& stream, const Variable& tensor);

/// Returns whether a file, or the rest of a stream, is an archive of arrays. The position of the stream does
/// not change.
EBB_API bool is_npz(const std::string& path);
EBB_API bool is_npz(std::istream& stream);
/// Reads the arrays of an archive with their names, stored (numpy.savez) or deflated
/// (numpy.savez_compressed).
EBB_API NamedTensors read_npz(const std::string& path);
EBB_API NamedTensors read_npz(std::istream& stream);
/// Writes an archive like numpy.savez(path, **tensors).
EBB_API void write_npz(const std::string& path, const NamedTensors& tensors);

}  // namespace ebb::npy
