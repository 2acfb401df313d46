// Optimizers in files of libtorch before 1.5.
#include "optim/old_files.h"

#include <ebb/core/warning.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace ebb::optim {

namespace {

constexpr std::string_view kSize = "_buffers/size";

constexpr std::pair<std::string_view, const char*> kLists[] = {
    {"exp_average_buffers", "exp_avg"},
    {"exp_average_sq_buffers", "exp_avg_sq"},
    {"grad_average_buffers", "grad_avg"},
    {"max_exp_average_sq_buffers", "max_exp_avg_sq"},
    {"momentum_buffers", "momentum_buffer"},
    {"square_average_buffers", "square_avg"},
    {"step_buffers", "step"},
    {"sum_buffers", "sum"},
};

}  // namespace

Optimizer::StateDict from_old_file(Optimizer::StateDict state) {
  if (std::none_of(state.begin(), state.end(), [](const auto& item) { return item.first.ends_with(kSize); }))
    return state;
  warn(
      "load: the optimizer's file is of the old serialization format, of libtorch before 1.5, which keeps no "
      "options. Save the optimizer anew.");
  Optimizer::StateDict renamed;
  for (auto& [name, value] : state) {
    if (name == "iteration_" || name.ends_with(kSize)) continue;
    const std::size_t slash = name.find('/');
    const auto* const list = std::find_if(std::begin(kLists), std::end(kLists), [&](const auto& known) {
      return known.first == std::string_view(name).substr(0, slash);
    });
    if (slash != std::string::npos && list != std::end(kLists))
      name = name.substr(slash + 1) + "." + list->second;
    renamed.emplace_back(std::move(name), std::move(value));
  }
  return renamed;
}

}  // namespace ebb::optim
