// open_state: opens a file of any format as the state of a module.
#pragma once

#include <ebb/archive.h>
#include <ebb/io/safetensors.h>
#include <ebb/serialize.h>

#include "nn/load_state.h"

#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace ebb::detail {

/// Opens a path or a stream. The format is safetensors, the index of several safetensors files (or its
/// folder), a PyTorch format, or .npz of NumPy. `key` selects a part (LoadOptions::key()).
std::unique_ptr<nn::StateSource> open_state(const std::string& path, const std::string& key);
std::unique_ptr<nn::StateSource> open_state(std::istream& stream, const std::string& key);

/// Returns the state without ignored tensors, and with the prefixes of the options replaced.
std::unique_ptr<nn::StateSource> renamed(std::unique_ptr<nn::StateSource> state, const LoadOptions& options);

/// Throws for a key that is no prefix of a name. The error lists similar keys.
[[noreturn]] void fail_of_part(const std::string& key, const std::vector<std::string>& names);

/// Returns the optimizer's part of a file. With a key, this is the part `key`. Without a key, it is the part
/// of a checkpoint that has one of the usual names of optimizers. If there is no such part, it is the whole
/// file.
serialize::InputArchive optimizer_in(const safetensors::File& file, const std::string& key);

/// Returns advice for a file whose names all have the prefix of a wrapper module, if the module's names do
/// not have it. Otherwise returns an empty string.
std::string advice_on_wrapped(const std::vector<std::string>& names, const std::vector<std::string>& own);

}  // namespace ebb::detail
