// Execution plans: selects engines, and converts plans to and from text.
#include "cuda/nvidia/dnn/plan.h"

#include <algorithm>

namespace ebb::cuda::dnn {
namespace {

std::vector<cudnnBackendNumericalNote_t> notes_of(const Descriptor& config) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  config.get(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
  std::vector<cudnnBackendNumericalNote_t> notes(CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, notes);
  return notes;
}

// Returns engine configurations, sorted by cuDNN's estimate of their speed.
std::vector<Descriptor> proposals(const Graph& graph, const Target& target, cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.operations);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
  if (target.properties) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.properties);
  heuristics.finalize();
  return heuristics.get_all(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

// Creates the plan of an engine's configuration. Returns no plan if the engine has a note that is not
// allowed.
std::optional<Plan> plan_of(const Problem& problem, const Target& target, Descriptor& config) {
  std::vector<cudnnBackendNumericalNote_t> notes = notes_of(config);
  if (!std::ranges::all_of(notes, [&](auto note) { return is_allowed(problem, note); })) return {};
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  target.give(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
  plan.finalize();
  const auto workspace = plan.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  return Plan{std::move(config), std::move(plan), workspace, std::move(notes)};
}

}  // namespace

bool is_allowed(const Problem& p, cudnnBackendNumericalNote_t note) {
  const bool tf32 = p.tf32 != 0;
  switch (note) {
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
      return p.deterministic == 0;
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:  // for float: TF32
      return tf32 || p.type() != kFloat;
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
      return false;
    // The intermediate values of these algorithms are larger than the terms of the sum, so their results are
    // less accurate. They are more accurate than with TF32, and therefore allowed if TF32 is.
    case CUDNN_NUMERICAL_NOTE_FFT:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
      return tf32;
    default:
      return true;
  }
}

std::vector<Plan> make_plans(const Problem& problem, const Graph& graph, const Target& target,
                             std::size_t most, std::int64_t workspace) {
  std::vector<Plan> plans;
  std::optional<Plan> least;
  std::optional<Failure> failure;
  const auto note_failure = [&](const Failure& f) {
    if (!f.is_unsupported() && !failure) failure = f;
  };
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    std::vector<Descriptor> configs;
    try {
      configs = proposals(graph, target, mode);
    } catch (const Failure& f) {
      note_failure(f);
    }
    // Creates the plans one by one and stops at `most`, because the creation of a plan may compile a kernel.
    for (Descriptor& config : configs) {
      if (plans.size() == most) return plans;
      try {
        std::optional<Plan> plan = plan_of(problem, target, config);
        if (!plan) continue;
        if (plan->workspace <= workspace)
          plans.push_back(std::move(*plan));
        else if (!least || plan->workspace < least->workspace)
          least = std::move(plan);
      } catch (const Failure& f) {
        note_failure(f);
      }
    }
  }
  if (plans.empty() && least) plans.push_back(std::move(*least));
  if (plans.empty() && failure) throw Failure(*failure);
  return plans;
}

std::string text_of(const Plan& plan) {
  try {
    std::vector<char> text = plan.plan.get_text(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
    return {text.begin(), text.end()};
  } catch (const Failure&) {
    return {};
  }
}

std::optional<Plan> plan_from(const std::string& text, const Target& target) {
  if (text.empty()) return {};
  try {
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    target.give(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION, text.data(),
             static_cast<std::int64_t>(text.size()));
    plan.finalize();
    const auto workspace = plan.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
    return Plan{{}, std::move(plan), workspace, {}};
  } catch (const Failure&) {
    return {};
  }
}

}  // namespace ebb::cuda::dnn
