// A file of any format as the state of a module, and what to say where it holds something else.
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

/// Opens what a path or a stream holds: safetensors, their index (or its folder), PyTorch's files, NumPy's
/// .npz; of that, the part that LoadOptions::key() names.
std::unique_ptr<nn::StateSource> open_state(const std::string& path, const std::string& key);
std::unique_ptr<nn::StateSource> open_state(std::istream& stream, const std::string& key);

/// The same state without what is to be ignored, and under other names.
std::unique_ptr<nn::StateSource> renamed(std::unique_ptr<nn::StateSource> state, const LoadOptions& options);

/// Throws for a part with which no name begins, and names the nearest ones.
[[noreturn]] void fail_of_part(const std::string& key, const std::vector<std::string>& names);

/// The optimizer's part of a file: what `key` names; without one the whole file, or what stands in a
/// checkpoint under the names that programs give an optimizer.
serialize::InputArchive optimizer_in(const safetensors::File& file, const std::string& key);

/// How to load names that all begin as a wrapper of modules writes them, where the module's own do not; else
/// empty.
std::string advice_on_wrapped(const std::vector<std::string>& names, const std::vector<std::string>& own);

}  // namespace ebb::detail
