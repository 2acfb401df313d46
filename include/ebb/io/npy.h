// NumPy's files: .npy holds one array, .npz an archive of them (numpy.lib.format, versions 1.0 to 3.0).
#pragma once

#include <ebb/autograd/variable.h>

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace ebb::npy {

using NamedTensors = std::vector<std::pair<std::string, Variable>>;

/// numpy.load(path): bool, int8 to int64, uint8, float16, float32 and float64, in C's or Fortran's order
/// (which becomes strides), either byte order. Errors: what is no .npy file or is cut short; arrays of
/// objects, text, structures, complex and wider unsigned numbers, with what to convert them to.
EBB_API Variable read(const std::string& path);
EBB_API Variable read(std::istream& stream);
/// The same from bytes in memory.
EBB_API Variable parse(const void* bytes, std::size_t size);

/// numpy.save(path, array), version 1.0; atomic as safetensors::write. bfloat16, which NumPy does not have,
/// is an error.
EBB_API void write(const std::string& path, const Variable& tensor);
EBB_API void write(std::ostream& stream, const Variable& tensor);

/// Whether a file, or what is left of a stream (which then goes back to where it was), is an archive of
/// arrays.
EBB_API bool is_npz(const std::string& path);
EBB_API bool is_npz(std::istream& stream);
/// The arrays of an archive, stored (numpy.savez) or deflated (numpy.savez_compressed), by their names.
EBB_API NamedTensors read_npz(const std::string& path);
EBB_API NamedTensors read_npz(std::istream& stream);
/// numpy.savez(path, **tensors).
EBB_API void write_npz(const std::string& path, const NamedTensors& tensors);

}  // namespace ebb::npy
