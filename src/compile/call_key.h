// The key of a call of a compiled function: calls of different keys have different tapes.
#pragma once

#include <ebb/autograd/variable.h>

#include <string>
#include <vector>

namespace ebb::compiling {

/// The modes of the thread and the settings of the program on which the result of an op may depend.
std::string key_of_modes();

/// The calls of one key have one tape: the modes, the arguments that are no tensors, and of each tensor what
/// ops decide by but not its numbers. Replaces what is in `text`, whose memory serves again.
void key_of_call(const std::vector<Variable>& tensors, const std::string& numbers, std::string& text);

}  // namespace ebb::compiling
