// Reading and writing safetensors files (https://github.com/huggingface/safetensors, format version 0.x): a
// JSON header that names each tensor, its dtype, shape and bytes, and then the bytes.
#pragma once

#include <ebb/autograd/variable.h>

#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ebb::safetensors {

using NamedTensors = std::vector<std::pair<std::string, Variable>>;
using Metadata = std::map<std::string, std::string>;

/// The contents of a file, in the order of the data.
struct EBB_API File {
  NamedTensors tensors;
  Metadata metadata;  ///< the header's "__metadata__"
  /// The tensor of that name; throws with the nearest names if there is none.
  const Variable& at(const std::string& name) const;
};

/// Maps the file into memory; the tensors share the mapping, copy-on-write, and keep it alive. A file that is
/// not sound throws ebb::Error that says where: truncated, a header larger than 100 MB or the file, JSON that
/// does not parse or names a tensor twice, an unknown dtype, a shape that overflows, offsets that overlap,
/// leave gaps, or do not match the shape.
EBB_API File read(const std::string& path);

/// The same from bytes in memory, which are copied. For fuzzing and for embedded files.
EBB_API File parse(const void* bytes, std::size_t size);

/// The same from a stream, which is read to its end.
EBB_API File read(std::istream& stream);

/// Writes the tensors, contiguous and in order, so that a crash at any moment leaves either the old file or
/// the new one: a temporary file beside it, fsync, rename, fsync of the directory. Names must be distinct.
/// Tensors on other devices are copied to the CPU.
EBB_API void write(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});
/// The same bytes to a stream. Throws when the stream does not take them.
EBB_API void write(std::ostream& stream, const NamedTensors& tensors, const Metadata& metadata = {});

}  // namespace ebb::safetensors
