// Fingerprint: hooks that record statistics of tensors.
#include <ebb/core/visit.h>
#include <ebb/core/warning.h>
#include <ebb/nn/module.h>
#include <ebb/optim/optimizer.h>
#include <ebb/watch/fingerprint.h>

#include "io/atomic_file.h"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace ebb::watch {
namespace {

using nlohmann::json;

// Returns the statistics of the finite elements, and a CRC-32 of all bytes in row-major order.
json statistics(const Variable& tensor) {
  const Variable x = tensor.detach().to(kCPU).contiguous();
  double sum = 0, squares = 0, mix = 0, low = INFINITY, high = -INFINITY;
  std::int64_t nans = 0, infinities = 0;
  visit_all(x.scalar_type(), "Fingerprint", [&]<class T> {
    const T* const values = x.array().data_as<T>();
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const auto value =
          static_cast<double>(static_cast<std::conditional_t<(sizeof(T) < 4), float, T>>(values[i]));
      if (!std::isfinite(value)) {
        ++(std::isnan(value) ? nans : infinities);
        continue;
      }
      sum += value, squares += value * value;
      low = std::min(low, value), high = std::max(high, value);
      // The weight is in [-1, 1).
      mix += value * (static_cast<double>(static_cast<std::uint32_t>(i) * 2654435761U) / 0x1p31 - 1);
    }
  });
  const std::int64_t finite = x.numel() - nans - infinities;
  const auto* const bytes = static_cast<const Bytef*>(x.array().address());
  return {{"dtype", ebb::detail::text(x.scalar_type())},
          {"shape", std::vector<std::int64_t>(x.sizes().begin(), x.sizes().end())},
          {"crc32", x.numel() == 0 ? 0 : crc32_z(0, bytes, x.nbytes())},
          {"nan", nans},
          {"inf", infinities},
          {"mean", finite ? sum / static_cast<double>(finite) : 0},
          {"norm", std::sqrt(squares)},
          {"mix", mix},
          {"min", finite ? low : 0},
          {"max", finite ? high : 0}};
}

}  // namespace

struct Fingerprint::State : std::enable_shared_from_this<Fingerprint::State> {
  State(nn::Module& recorded, std::int64_t count) : model(recorded), steps(count) {}
  ~State() {
    for (nn::RemovableHandle& hook : hooks) hook.remove();
  }

  void add(const char* kind, const std::string& name, const Variable& x) {
    if (step >= steps || !x.defined()) return;
    json line{{"step", step}, {"kind", kind}, {"name", name}, {"call", calls[kind + (' ' + name)]++}};
    line.update(statistics(x));
    lines += line.dump() + '\n';
  }

  void watch(const std::string& name, nn::Module& module) {
    hooks.push_back(module.register_forward_hook([this, name](nn::Module&, const auto&, const auto& outputs) {
      if (step >= steps) return;
      for (const Variable& output : outputs) {
        if (!output.defined()) continue;
        add("output", name, output);
        if (output.requires_grad())
          output.register_hook([weak = weak_from_this(), name](const Variable& grad) {
            if (const auto state = weak.lock()) state->add("gradient", name, grad);
          });
      }
    }));
  }

  void watch_all() {
    for (const auto& each : model.named_modules("", /*include_self=*/false)) watch(each.key(), *each.value());
    watch("", model);
    hooks.push_back(optim::register_optimizer_step_pre_hook([this](optim::Optimizer& optimizer, auto&) {
      for (const auto& each : parameters_of(optimizer))
        add("parameter gradient", each.first, each.second.grad());
    }));
    hooks.push_back(optim::register_optimizer_step_post_hook([this](optim::Optimizer& optimizer) {
      const auto updated = parameters_of(optimizer);
      for (const auto& each : updated) add("parameter", each.first, each.second);
      if (updated.empty()) return;
      ++step;
      calls.clear();
    }));
  }

  // Returns the parameters of the model that the optimizer updates.
  std::vector<std::pair<std::string, Variable>> parameters_of(optim::Optimizer& optimizer) const {
    std::vector<std::pair<std::string, Variable>> updated;
    if (step >= steps) return updated;
    for (const auto& each : model.named_parameters())
      for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
        for (const Variable& parameter : group.params())
          if (parameter.is_same(each.value())) updated.emplace_back(each.key(), parameter);
    return updated;
  }

  nn::Module& model;
  std::int64_t steps, step = 0;
  std::vector<nn::RemovableHandle> hooks;
  std::map<std::string, std::int64_t> calls;  // the number of records of a kind and name in this step
  std::string lines;
};

Fingerprint::Fingerprint(nn::Module& model, std::int64_t steps)
    : state_(std::make_shared<State>(model, steps)) {
  EBB_CHECK(steps > 0, "Fingerprint: the number of steps is ", steps, "; it must be at least 1.");
  state_->watch_all();
}
Fingerprint::~Fingerprint() = default;

void Fingerprint::add(const std::string& name, const Variable& x) { state_->add("tensor", name, x); }

void Fingerprint::write(const std::string& path) const {
  const std::string& lines = state_->lines;
  if ((lines.empty() || state_->step > 0) && lines.find("\"output\"") == std::string::npos)
    warn("Fingerprint: no module was called by its handle. Write fc(x) in place of fc->forward(x).");
  io::AtomicFile file(path);
  file.write(lines.data(), lines.size());
  file.commit();
}

}  // namespace ebb::watch
