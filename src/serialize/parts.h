// What a file holds of what is asked for, and what to say where it holds something else.
#pragma once

#include <ebb/archive.h>
#include <ebb/io/safetensors.h>

#include <string>
#include <vector>

namespace ebb::detail {

/// Of a part that none of the names begins with: throws with the nearest that there are.
[[noreturn]] void fail_of_part(const std::string& key, const std::vector<std::string>& names);

/// The optimizer's part of a file: what `key` names; without one the whole file, or what stands in a
/// checkpoint under the names that programs give an optimizer.
serialize::InputArchive optimizer_in(const safetensors::File& file, const std::string& key);

/// How to load names that all begin as a wrapper of modules writes them, where the module's own do not; else
/// empty.
std::string advice_on_wrapped(const std::vector<std::string>& names, const std::vector<std::string>& own);

}  // namespace ebb::detail
