// Anomaly mode: where a node was made, and which first gave NaN.
#include "autograd/anomaly.h"

#include <ebb/autograd/anomaly.h>

#include "autograd/meta.h"
#include "autograd/places.h"
#include "autograd/thread_state.h"

namespace ebb::autograd {

bool AnomalyMode::is_enabled() { return thread_state.anomaly_mode; }
bool AnomalyMode::should_check_nan() { return thread_state.check_nan; }
void AnomalyMode::set_enabled(bool enabled, bool check_nan) {
  thread_state.anomaly_mode = enabled;
  thread_state.check_nan = check_nan;
}

void note_origin(Node& node) {
  if (const Node* outer = thread_state.evaluating)
    node.extras().recorded_in =
        outer->name() + (outer->extras_or_null() ? origin_text(*outer) : std::string());
}

std::string origin_text(const Node& node) {
  const NodeExtras* extras = node.extras_or_null();
  std::string text;
  if (extras && !extras->recorded_in.empty()) text = " Recorded in the backward of " + extras->recorded_in;
  const std::string place = place_text(node.place());
  return place.empty() ? text : text + "\n  in the backward of " + node.name() + ", recorded in " + place;
}

void check_nan(const Node& node, const GradList& grads) {
  NoGradGuard no_grad;
  for (std::size_t i = 0; i < grads.size(); ++i)
    if (grads[i].defined() && is_floating(grads[i].dtype()) && grads[i].isnan().any().item<bool>())
      detail::fail(
          "Function '", node.name(), "' returned nan values in its ", std::uint64_t{i},
          "th output, the gradient of input ", std::uint64_t{i + 1},
          ". Look at the forward op of that name: its input is outside the domain of the derivative.",
          origin_text(node));
}

}  // namespace ebb::autograd
