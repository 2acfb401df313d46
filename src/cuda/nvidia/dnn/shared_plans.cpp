// Plans written down and read again.
#include "cuda/nvidia/dnn/shared_plans.h"

namespace ebb::cuda::dnn {

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
