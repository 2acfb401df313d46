// CheckFinite: reads the range of each result of each kernel.
#include <ebb/autograd/place.h>
#include <ebb/core/warning.h>
#include <ebb/nn/module.h>
#include <ebb/optim/optimizer.h>
#include <ebb/watch/check_finite.h>

#include "autograd/diagnostics.h"
#include "kernel/call/kept_call.h"

#include <fmt/format.h>

#include <cmath>
#include <thread>
#include <unordered_map>

namespace ebb::watch {
namespace {

using ebb::detail::KeptCall;
using ebb::detail::RecorderScope;
using ebb::detail::text;

/// The arrays of a call, undefined for other dtypes, and the sum of its numbers that are NaN or infinite.
struct Arguments final : ebb::detail::ArgumentVisitor {
  explicit Arguments(KeptCall& call) { call.visit(*this); }
  void array(NdArray& array) override {
    const bool checked = array.defined() && is_floating(array.dtype());
    arrays.emplace_back(checked ? Variable(array) : Variable(), written);
  }
  void address(void*&) override {}
  void words(Philox&) override {}
  void plain(const void*, std::size_t) override {}
  void number(const void* value, std::size_t, const std::type_info& type) override {
    if (type == typeid(double)) scalar(*static_cast<const double*>(value));
    if (type == typeid(float)) scalar(*static_cast<const float*>(value));
  }
  void scalar(const Scalar& value) override {
    const double number = value.to<double>();
    if (!std::isfinite(number)) special += std::abs(number);
  }

  std::vector<std::pair<Variable, bool>> arrays;  // and whether the kernel writes to the argument
  double special = 0;
};

/// The smallest and the largest element; both are NaN if an element is.
struct Range {
  explicit Range(const Variable& x) {
    if (x.numel() == 0) return;
    const auto [least, largest] = x.detach().aminmax();
    low = least.item<double>(), high = largest.item<double>();
  }
  bool nan() const { return std::isnan(low); }
  bool finite() const { return std::isfinite(low) && std::isfinite(high); }
  std::string text() const { return fmt::format(" from {:.6g} to {:.6g}", low, high); }
  double low = 0, high = 0;
};

// Returns "Float[2, 3] on cpu with 1 NaN and 0 infinities, the others from -1 to 2".
std::string describe(const Variable& tensor) {
  const Variable x = tensor.detach(), finite = x.masked_select(x.isfinite());
  const std::string range = finite.numel() > 0 ? Range(finite).text() : "";
  if (finite.numel() == x.numel()) return text(x, range);
  const auto nans = x.isnan().sum().item<std::int64_t>();
  return text(x, " with ", nans, " NaN and ", x.numel() - finite.numel() - nans, " infinities",
              range.empty() ? "" : ", the others", range);
}

}  // namespace

/// The recorder of the thread. Optimizers are checked by hooks, because their kernels take bare addresses.
struct CheckFinite::State final : ebb::detail::Recorder {
  State(const nn::Module* with_names, CheckFiniteOptions with) : model(with_names), options(with) {
    EBB_CHECK(
        !ebb::detail::current_recorder(),
        "CheckFinite: this thread has another CheckFinite, or ebb::compile is recording it. Use one, and "
        "create it outside of compiled functions.");
    hooks[0] = optim::register_optimizer_step_pre_hook([this](optim::Optimizer&, auto&) {
      if (std::this_thread::get_id() == thread) stepping = true;
    });
    hooks[1] = optim::register_optimizer_step_post_hook([this](optim::Optimizer& optimizer) {
      if (std::this_thread::get_id() == thread) check_step(optimizer);
    });
    ebb::detail::set_current_recorder(this);
    ++ebb::detail::recordings;  // begin_recording() would mark all new tensors as temporaries of a tape
  }
  ~State() override {
    --ebb::detail::recordings;
    ebb::detail::set_current_recorder(nullptr);
    ebb::detail::forget_allocations(*this);
    for (nn::RemovableHandle& hook : hooks) hook.remove();
  }

  void host_access(const Storage& storage) override {
    filled[&storage] = ebb::detail::allocation_serial(*this, &storage);
  }
  /// Returns whether the memory was written, or allocated before the scope. Otherwise its bytes are random.
  bool contains_results(const Storage& storage) const {
    const std::uint64_t serial = ebb::detail::allocation_serial(*this, &storage);
    const auto found_at = filled.find(&storage);
    return serial == 0 || (found_at != filled.end() && found_at->second == serial);
  }

  void begin(KeptCall& kept) override {
    const RecorderScope unwatched(nullptr);
    const Arguments call(kept);
    before.assign(call.arrays.size(), nullopt);
    if (!wants(direction())) return;
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto& [x, written] = call.arrays[i];
      if (!x.defined()) continue;
      bool changes = written && contains_results(*x.array().storage());
      for (const auto& [other, result] : call.arrays)
        changes |= !written && result && other.defined() && other.is_alias_of(x);
      if (changes) before[i] = Range(x);
    }
  }

  void end(std::unique_ptr<KeptCall>, KeptCall& kept) override {
    const RecorderScope unwatched(nullptr);
    const std::string now = direction();
    if (now == "optimizer") update = kept.name();
    const Arguments call(kept);
    for (const auto& [x, written] : call.arrays)
      if (written && x.defined()) host_access(*x.array().storage());
    for (std::size_t at = 0; at < before.size() && wants(now); ++at) {
      const auto& [output, written] = call.arrays[at];
      // The other results of ctc_loss are logarithms of probabilities, also of 0.
      if (at > 0 && std::string_view(kept.name()) == "ctc_loss") break;
      if (!written || !output.defined()) continue;
      const Range range(output);
      // A program may fill a tensor with NaN or infinities, for example a mask.
      if (!bad(range) || (range.nan() ? std::isnan(call.special) : call.special != 0)) continue;
      const auto [reads, finite] = describe_inputs(call);
      if (!finite && !range.nan()) continue;
      const std::string module = autograd::module_text(autograd::current_place);
      const autograd::Node* const node = autograd::running_node();
      report({kept.name(), module, now, step, {}}, text(node ? node->name() + ", " : "", module), output,
             reads + (finite ? "\nThe op overflows, or an input is outside its domain."
                             : "\nNo checked op computed the NaN or infinity that it read: look at the data "
                               "and at the initial weights."));
    }
  }

  // Returns a line for each array that the kernel read, and whether all are finite.
  std::pair<std::string, bool> describe_inputs(const Arguments& call) const {
    std::pair<std::string, bool> reads{"", true};
    for (std::size_t i = 0; i < before.size(); ++i) {
      const auto& [x, written] = call.arrays[i];
      if (!x.defined() || (written && !before[i])) continue;
      const std::string name = name_of(x);
      reads.first += text("\n  ", name, name.empty() ? "" : ", ",
                          before[i] ? text(x, before[i]->text(), " before the op") : describe(x));
      reads.second &= before[i].value_or(Range(x)).finite();
    }
    return reads;
  }

  void check_step(optim::Optimizer& optimizer) {
    const RecorderScope unwatched(nullptr);
    stepping = false;
    std::int64_t index = 0;
    for (const optim::OptimizerParamGroup& group : optimizer.param_groups())
      for (const Variable& parameter : group.params()) {
        const std::string number = std::to_string(index++);
        if (!wants("optimizer") || !parameter.is_floating_point() || !bad(Range(parameter))) continue;
        const std::string name = name_of(parameter);
        std::string reads;
        if (parameter.grad().defined()) reads = "\n  the gradient, " + describe(parameter.grad());
        for (const auto& [key, value] : optimizer.state_dict())
          if (key.starts_with(number + ".") && value.defined() && value.is_floating_point())
            reads += text("\n  ", key.substr(number.size() + 1), ", now ", describe(value));
        report({update, name, "optimizer", step, {}}, "parameter " + (name.empty() ? number : name),
               parameter, reads);
      }
    ++step;
  }

  void report(NonFinite result, const std::string& place, const Variable& output, const std::string& reads) {
    result.message = text("CheckFinite: in step ", step, ", ", result.direction, place.empty() ? "" : " of ",
                          place, ": ", result.op, " computed ", describe(output), ". It read:", reads);
    found = std::move(result);
    EBB_CHECK(!options.throws(), found->message);
    warn(found->message);
  }

  // A closure that computes gradients within a step is not part of the optimizer.
  std::string direction() const {
    return autograd::running_node()              ? "backward"
           : stepping && !GradMode::is_enabled() ? "optimizer"
                                                 : "forward";
  }
  bool wants(const std::string& now) const {
    return !found && (now == "forward"    ? options.forward()
                      : now == "backward" ? options.backward()
                                          : options.optimizer());
  }
  bool bad(const Range& range) const { return options.infinities() ? !range.finite() : range.nan(); }
  // Returns the name of the parameter in the memory of x, or "".
  std::string name_of(const Variable& x) const {
    if (model)
      for (const auto& each : model->named_parameters())
        if (each.value().is_alias_of(x)) return each.key();
    return {};
  }

  const nn::Module* model;
  CheckFiniteOptions options;
  std::optional<NonFinite> found;
  std::thread::id thread = std::this_thread::get_id();
  nn::RemovableHandle hooks[2];
  bool stepping = false;
  std::string update = "the optimizer";  // the last kernel of an optimizer
  std::int64_t step = 0;
  std::vector<optional<Range>> before;  // of the arrays whose contents the running kernel may change
  std::unordered_map<const Storage*, std::uint64_t> filled;  // storages that were written, and their serials
};

CheckFinite::CheckFinite(CheckFiniteOptions options) : state_(std::make_unique<State>(nullptr, options)) {}
CheckFinite::CheckFinite(const nn::Module& model, CheckFiniteOptions options)
    : state_(std::make_unique<State>(&model, options)) {}
CheckFinite::~CheckFinite() = default;

const std::optional<NonFinite>& CheckFinite::found() const { return state_->found; }

}  // namespace ebb::watch
