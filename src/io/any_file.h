// Files of all tensor formats. The first bytes of a file determine its format.
#pragma once

#include <ebb/io/safetensors.h>

#include "io/bytes.h"

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace ebb::io {

enum class Format { Safetensors, Json, Torch, Npz, Npy };

/// Returns the most likely format of the bytes. For unknown bytes it is Safetensors, because the reader of
/// that format reports files of other formats.
Format format_of(const std::shared_ptr<const Bytes>& bytes);

/// Returns the rest of a stream. Throws if its first bytes match no format.
std::string any_rest_of(std::istream& stream);

/// Reads all tensors of a file. Tensors that share memory in the file also share memory in the result.
/// PyTorch's files are converted by pytorch::archived, an .npz file yields its arrays, and an .npy file
/// yields one tensor named "tensor".
safetensors::File read_any(const std::string& path);
safetensors::File read_any(std::istream& stream);

}  // namespace ebb::io

namespace ebb::npy {

/// Throws unless `start`, the first bytes of a stream, contains a signature of a zip archive. Other bytes may
/// precede the signature in `start`.
void check_npz_start(std::string_view start);

/// Returns whether the bytes are a zip archive that contains only arrays.
bool holds_arrays(const std::shared_ptr<const io::Bytes>& bytes);

}  // namespace ebb::npy
