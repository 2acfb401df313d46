// A file of any format as the state of a module.
#pragma once

#include <ebb/serialize.h>

#include <iosfwd>
#include <memory>
#include <string>

#include "nn/load_state.h"

namespace ebb::detail {

/// Opens what a path or a stream holds: safetensors, their index (or its folder), PyTorch's files, NumPy's
/// .npz; of that, the part that LoadOptions::key() names.
std::unique_ptr<nn::StateSource> open_state(const std::string& path, const std::string& key);
std::unique_ptr<nn::StateSource> open_state(std::istream& stream, const std::string& key);

/// The same state without what is to be ignored, and under other names.
std::unique_ptr<nn::StateSource> renamed(std::unique_ptr<nn::StateSource> state, const LoadOptions& options);

}  // namespace ebb::detail
