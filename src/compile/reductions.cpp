// Where reductions stand.
#include "compile/reductions.h"

#include <algorithm>
#include <utility>

#include "compile/device_chain.h"
#include "compile/element_call.h"
#include "compile/touches.h"

namespace ebb::compiling {

void hasten_reductions(Tape& tape) {
  const Touches touches(tape);
  std::vector<std::vector<std::size_t>> behind(tape.calls.size());
  std::vector<bool> moved(tape.calls.size());
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    const std::optional<ElementReductionCall> found = element_reduction_call(tape.calls[i], touches);
    const auto at = static_cast<int>(i);
    if (!found || found->device.is_cpu() || touches.calls(found->to.place).front() != at) continue;
    const std::vector<int>& writers = touches.writers(found->of.place);
    const auto next = std::lower_bound(writers.begin(), writers.end(), at);
    if (next == writers.begin()) continue;
    auto last = static_cast<std::size_t>(*std::prev(next));
    if (!tape.calls[last].call->per_element()) continue;
    // A reduction that cannot join a chain must not part it.
    const auto goes_on = [&](std::size_t call) {
      const std::optional<ElementCall> row = element_call(tape.calls[call], touches);
      return row && row->count == found->count;
    };
    const std::size_t furthest = std::min(i, last + DeviceChain::kMostCalls);
    while (last + 1 < furthest && goes_on(last + 1)) ++last;
    behind[last].push_back(i);
    moved[i] = true;
  }
  std::vector<TapeCall> ordered;
  ordered.reserve(tape.calls.size());
  for (std::size_t i = 0; i < tape.calls.size(); ++i) {
    if (!moved[i]) ordered.push_back(std::move(tape.calls[i]));
    for (const std::size_t each : behind[i]) ordered.push_back(std::move(tape.calls[each]));
  }
  tape.calls = std::move(ordered);
}

}  // namespace ebb::compiling
