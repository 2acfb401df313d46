// Files of every format that holds tensors, known by their first bytes.
#pragma once

#include <ebb/io/safetensors.h>

#include "io/bytes.h"

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

namespace ebb::io {

enum class Format { Safetensors, Json, Torch, Npz, Npy };

/// What the bytes most likely are; Safetensors where they are nothing that is known, whose reader then says
/// what they look like.
Format format_of(const std::shared_ptr<const Bytes>& bytes);

/// All of a stream; throws for how it begins if it is of no format.
std::string any_rest_of(std::istream& stream);

/// All tensors of a file, each in memory of its own or sharing it as the file says: safetensors as they are;
/// PyTorch's as pytorch::archived gives them; of .npz the arrays; of .npy one, "tensor".
safetensors::File read_any(const std::string& path);
safetensors::File read_any(std::istream& stream);

}  // namespace ebb::io

namespace ebb::npy {

/// Throws for how a stream begins that is none of zip's: whatever stands before an archive is not long.
void check_npz_start(std::string_view start);

/// Whether the bytes are a zip archive of arrays alone.
bool holds_arrays(const std::shared_ptr<const io::Bytes>& bytes);

}  // namespace ebb::npy
