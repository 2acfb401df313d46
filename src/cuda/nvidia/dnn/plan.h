// From an operation graph to plans that can be executed.
#pragma once

#include "cuda/nvidia/dnn/task.h"

#include <optional>
#include <string>

namespace ebb::cuda::dnn {

/// An engine with its settings, ready to run.
struct Plan {
  std::optional<Descriptor> config;  // as are the notes, of a plan that was made, not read
  Descriptor plan;
  std::int64_t workspace = 0;  // bytes
  std::vector<cudnnBackendNumericalNote_t> notes;
};

/// Whether an engine with such a note may compute the problem: results must be computed in float (in double
/// for doubles) and rounded once, unless TF32 is allowed; and repeat bit for bit where the program asks.
bool is_allowed(const Problem& problem, cudnnBackendNumericalNote_t note);

/// The first `most` plans of allowed engines that need at most `workspace` bytes, in cuDNN's order: its
/// heuristics' mode A, then its fallback list. Where all need more, the one that needs least; empty when no
/// engine can do it. Throws Failure when engines could, but their plans failed.
std::vector<Plan> make_plans(const Problem& problem, const Graph& graph, const Target& target,
                             std::size_t most, std::int64_t workspace);

/// The plan of a problem as cuDNN writes it down; empty where the engine's plans cannot be.
std::string text_of(const Plan& plan);
/// Such a plan again; none where cuDNN will not have it.
std::optional<Plan> plan_from(const std::string& text, const Target& target);

}  // namespace ebb::cuda::dnn
