// Creates executable plans for an operation graph.
#pragma once

#include "cuda/nvidia/dnn/task.h"

#include <optional>
#include <string>

namespace ebb::cuda::dnn {

/// An engine configuration that is ready to run.
struct Plan {
  std::optional<Descriptor> config;  // like the notes, set only if the plan was created here, not loaded
  Descriptor plan;
  std::int64_t workspace = 0;  // bytes
  std::vector<cudnnBackendNumericalNote_t> notes;
};

/// Returns whether an engine with this note may compute the problem. Results must be computed in float (in
/// double for doubles) and rounded once, unless TF32 is allowed. In deterministic mode they must be bitwise
/// reproducible.
bool is_allowed(const Problem& problem, cudnnBackendNumericalNote_t note);

/// Returns the first `most` plans of allowed engines that need at most `workspace` bytes. The order is
/// cuDNN's: heuristic mode A, then the fallback list. If all plans need more, returns the plan that needs
/// least. If no engine supports the problem, returns an empty list. If engines support the problem, but all
/// their plans fail, throws Failure.
std::vector<Plan> make_plans(const Problem& problem, const Graph& graph, const Target& target,
                             std::size_t most, std::int64_t workspace);

/// Returns cuDNN's serialised form of a plan; empty if the engine does not support it.
std::string text_of(const Plan& plan);
/// Loads a serialised plan. Returns no plan if cuDNN rejects it.
std::optional<Plan> plan_from(const std::string& text, const Target& target);

}  // namespace ebb::cuda::dnn
