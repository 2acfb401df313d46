// libtorch's archives: trees of TorchScript modules that have attributes and nothing else.
#pragma once

#include <ebb/io/pytorch.h>

#include <string>

#include "io/pytorch_pickler.h"

namespace ebb::pytorch {

/// Puts a dict as an instance of a module, dicts in it as its submodules; returns the declarations of their
/// classes, which the archive must hold as code/__torch__.py.
std::string put_script(Pickler& pickler, const Value& value);

}  // namespace ebb::pytorch
