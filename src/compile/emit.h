// A tape as a C++ source.
#pragma once

#include <string>
#include <vector>

#include "compile/emitted.h"
#include "compile/tape.h"

namespace ebb::compiling {

/// What tells a kind of call's arguments from others'; how they share memory, too.
std::vector<emitted::Argument> arguments_of(const std::vector<Variable>& tensors);

/// Writes what `path` says with its header and, where there are weights, a file of safetensors beside it. Of
/// a tape that still holds.
void emit(const Tape& tape, std::vector<emitted::Argument> arguments, const std::string& path);

}  // namespace ebb::compiling
