// Continues a program from a checkpoint that was saved half-way.
#pragma once

#include <optional>

#include "random_programs/program.h"
#include "random_programs/state.h"

namespace programs {

/// The state of a process that starts again after `calls` calls: it runs the setup and the acts that make
/// fresh arguments, and loads tensors, gradients, modules, optimizers and the random generator from files in
/// memory. Nothing where the state has more than files keep: graphs, hooks, gradients that share memory,
/// other geometry.
std::optional<State> resumed(const Program& program, const State& state, std::size_t calls);

/// Sizes, strides, flags, and who shares memory with whom.
std::string geometry(const std::vector<Variable>& tensors);

}  // namespace programs
