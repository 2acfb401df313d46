// summary: records the calls of a network's modules by hooks.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/modules/multi_head_attention.h>
#include <ebb/watch/summary.h>

#include "nn/hooks.h"
#include "watch/kept_generator.h"

#include <algorithm>
#include <list>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace ebb::watch {
namespace {

using Shape = SummaryRow::Shape;

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

Shape shape_of(const Variable& x) { return {x.sizes().begin(), x.sizes().end()}; }

std::vector<Shape> shapes_of(const variable_list& tensors) {
  std::vector<Shape> shapes;
  for (const Variable& x : tensors)
    if (x.defined()) shapes.push_back(shape_of(x));
  return shapes;
}

// Returns the number of uses of each element of a layer's weights in one call.
std::int64_t uses(const SummaryRow& row) {
  if (row.outputs.empty() || contains(row.type, "Embedding")) return 0;
  std::size_t dims = 0;
  for (const auto& each : row.own)
    if (contains(each.name, "weight")) dims = std::max(dims, each.shape.size());
  const Shape& output = row.outputs[0];
  if (output.empty()) return 1;
  if (dims < 2) return output[0];
  // The channels are followed by the dimensions of a convolution.
  const std::size_t after = contains(row.type, "Conv") ? dims - 2 : 0;
  std::int64_t count = output.size() > after;
  for (std::size_t i = 0; i < output.size(); ++i)
    if (i + 1 + after != output.size()) count *= output[i];
  return count;
}

void set_outputs(SummaryRow& row, const variable_list& outputs) {
  row.outputs = shapes_of(outputs);
  const auto first = std::find_if(outputs.begin(), outputs.end(), [](const auto& x) { return x.defined(); });
  if (first != outputs.end()) row.output_bytes = static_cast<std::int64_t>(first->nbytes());
}

// Computes the row's figures and adds them to the totals. A layer is a module without rows below its own.
void complete(SummaryRow& row, const nn::Module& module, bool layer,
              std::unordered_set<const VariableImpl*>& counted, Summary& out) {
  std::ostringstream text;  // the printed options are alike for all convolutions and poolings
  module.pretty_print(text);
  const std::string options = text.str();
  std::smatch match;
  if (std::regex_search(options, match, std::regex(R"(kernel_size=\[?([0-9]+(, [0-9]+)*))")))
    row.kernel = match[1];
  for (const Variable& each : module.parameters()) {
    row.params += each.numel();
    row.trainable_params += each.requires_grad() ? each.numel() : 0;
  }
  std::int64_t used = 0;
  for (const auto& each : module.named_parameters(/*recurse=*/layer)) {
    const std::int64_t count = each->numel();
    row.own.push_back({each.key(), shape_of(*each), count, each->requires_grad()});
    if (contains(each.key(), "weight") || contains(each.key(), "bias")) used += count;
    if (!counted.insert(each->impl()).second) continue;
    row.counted_params += count;
    row.counted_trainable_params += each->requires_grad() ? count : 0;
    out.param_bytes += static_cast<std::int64_t>(each->nbytes());
  }
  if (layer) row.mult_adds = used * uses(row);
  if (!layer || row.params == 0) row.output_bytes = 0;
  out.total_params += row.counted_params;
  out.trainable_params += row.counted_trainable_params;
  out.total_mult_adds += row.mult_adds;
  out.forward_backward_bytes += 2 * row.output_bytes;
}

/// The calls so far. Unknown modules (copies) and other threads are ignored.
class Calls {
 public:
  explicit Calls(nn::Module& root) : root_(root), owners_(root.modules(/*include_self=*/false)) {
    root.apply([&](const std::string& path, nn::Module& module) {
      if (paths_[&module].empty()) modules_.push_back(&module);
      paths_[&module].push_back(path);
    });
    add(root, "", entries_.end());
  }
  const std::vector<nn::Module*>& modules() const { return modules_; }

  void enter(const nn::Module& module, const variable_list& inputs) {
    if (ignores(module)) return;
    open_.push_back(row_of_call(module));
    open_.back()->row.inputs = shapes_of(inputs);
  }
  void leave(const nn::Module& module, const variable_list& outputs) {
    if (ignores(module)) return;
    // Calls that ended by an exception, which the caller caught, are still open above this one.
    while (!open_.empty() && open_.back()->module != &module) open_.pop_back();
    if (open_.empty()) return;
    set_outputs(open_.back()->row, outputs);
    open_.pop_back();
  }
  /// Records the result of a call, unless its hooks do.
  void observe(const nn::Module& module, const variable_list& outputs) {
    if (ignores(module) || (!open_.empty() && open_.back()->module == &module)) return;
    set_outputs(row_of_call(module)->row, outputs);
  }

  void finish(Summary& out) {
    for (const nn::Module* module : modules_) add_uncalled(*module);
    std::unordered_set<const VariableImpl*> counted;
    std::unordered_map<std::int64_t, std::int64_t> numbers;
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      const bool layer = end_of(at) == std::next(at);
      complete(at->row, *at->module, layer, counted, out);
      at->row.index = ++numbers[at->row.depth];
      out.rows.push_back(at->row);
    }
  }

 private:
  struct Entry {
    const nn::Module* module;
    SummaryRow row;
  };
  using Entries = std::list<Entry>;  // each before those below it, so that its depth says where they end
  using At = Entries::iterator;

  bool ignores(const nn::Module& module) const {
    return std::this_thread::get_id() != thread_ || !paths_.contains(&module);
  }
  bool has_row(const nn::Module& module) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.module == &module; });
  }
  At end_of(At at) {
    const std::int64_t depth = at->row.depth;
    return std::find_if(std::next(at), entries_.end(), [&](const Entry& e) { return e.row.depth <= depth; });
  }

  At add(const nn::Module& module, const std::string& path, At parent) {
    SummaryRow row;
    row.path = path;
    row.name = path.substr(path.rfind('.') + 1);
    const std::string class_name = std::regex_replace(module.name(), std::regex("Impl$"), "");
    row.type = class_name.substr(class_name.rfind(':', class_name.find('<')) + 1);
    row.recursive = has_row(module);
    if (parent != entries_.end()) row.depth = parent->row.depth + 1;
    return entries_.insert(parent == entries_.end() ? parent : end_of(parent), {&module, row});
  }

  At row_below(At parent, const std::string& path, bool repeat) {
    const nn::Module* module = root_.get_submodule(path).get();
    const At end = end_of(parent);
    const At found = std::find_if(std::next(parent), end, [&](const Entry& e) {
      return e.module == module && e.row.depth == parent->row.depth + 1 && !(repeat && e.row.called);
    });
    return found != end ? found : add(*module, path, parent);
  }

  // Returns the row for a new call, below that of the innermost running call. Modules between both, for
  // example a ModuleList, get one row. Of a shared module's paths, one below the caller is used.
  At row_of_call(const nn::Module& module) {
    At at = open_.empty() ? entries_.begin() : open_.back();
    if (!open_.empty() || &module != &root_) {
      const std::string above = at == entries_.begin() ? "" : at->row.path + ".";
      const std::vector<std::string>& paths = paths_.at(&module);
      const auto path = std::find_if(paths.begin(), paths.end(), [&](const std::string& each) {
        return each.starts_with(above) && !each.empty();
      });
      if (path == paths.end()) {
        at = add(module, paths[0], at);
      } else {
        for (auto dot = path->find('.', above.size()); dot != path->npos; dot = path->find('.', dot + 1))
          at = row_below(at, path->substr(0, dot), false);
        at = row_below(at, *path, true);
      }
    }
    at->row.called = true;
    return at;
  }

  // A MultiheadAttention uses the parameters of its submodules itself, which therefore get no rows.
  void add_uncalled(const nn::Module& module) {
    if (has_row(module)) return;
    for (const std::string& path : paths_.at(&module)) {
      const std::string above = path.substr(0, path.find('.') == path.npos ? 0 : path.rfind('.'));
      const At parent =
          std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.row.path == above; });
      if (parent == entries_.end()) continue;
      const bool empty = end_of(parent) == std::next(parent);
      if (!empty || !parent->module->as<nn::MultiheadAttention>()) add(module, path, parent);
      return;
    }
  }

  nn::Module& root_;
  const std::thread::id thread_ = std::this_thread::get_id();
  const std::vector<std::shared_ptr<nn::Module>> owners_;
  std::vector<nn::Module*> modules_;  // each once, parents first
  std::unordered_map<const nn::Module*, std::vector<std::string>> paths_;
  Entries entries_;
  std::vector<At> open_;  // the calls that are running, outermost first
};

// Adds hooks that do nothing after the end of `calls`, because copies of the modules keep them.
std::vector<nn::RemovableHandle> add_hooks(const std::shared_ptr<Calls>& calls) {
  std::vector<nn::RemovableHandle> handles;
  const std::weak_ptr<Calls> weak = calls;
  for (nn::Module* module : calls->modules()) {
    handles.push_back(module->register_forward_pre_hook([weak](nn::Module& m, const variable_list& inputs) {
      if (const auto alive = weak.lock()) alive->enter(m, inputs);
    }));
    handles.push_back(module->register_forward_hook(
        [weak](nn::Module& m, const variable_list&, const variable_list& outputs) {
          if (const auto alive = weak.lock()) alive->leave(m, outputs);
        }));
    const nn::detail::ForwardObserver observer = [weak](const nn::Module& m, const variable_list& outputs) {
      if (const auto alive = weak.lock()) alive->observe(m, outputs);
    };
    handles.push_back(nn::detail::add_hook<&nn::detail::ModuleHooks::observers>(
        nn::detail::ModuleAccess::hooks(*module).get_or_create(), observer));
  }
  return handles;
}

// Calls `run` with hooks, and restores hooks, modes, buffers and generators.
void record(nn::Module& root, const std::shared_ptr<Calls>& calls, const std::function<void()>& run,
            bool train, const variable_list& inputs) {
  const NoGradGuard no_grad;
  std::vector<std::pair<nn::Module*, bool>> modes;
  for (nn::Module* module : calls->modules()) modes.emplace_back(module, module->is_training());
  const std::vector<Variable> buffers = root.buffers();
  std::vector<std::pair<Variable, std::int64_t>> saved;  // copies and versions
  for (const Variable& x : buffers) saved.emplace_back(x.clone(), x.is_inference() ? -1 : x._version());
  std::set<std::string> devices{"cpu"};
  for (const variable_list& tensors : {root.parameters(), buffers, inputs})
    for (const Variable& x : tensors) devices.insert(x.device().str());
  std::list<KeptGenerator> generators;
  for (const std::string& device : devices) generators.emplace_back(device);
  std::vector<nn::RemovableHandle> handles = add_hooks(calls);
  const auto restore = [&] {
    for (nn::RemovableHandle& handle : handles) handle.remove();
    for (const auto& [module, was_training] : modes) {
      nn::detail::ModuleAccess::hooks(*module).reset_if_unused();
      if (module->is_training() != was_training) module->train(was_training);  // and submodules, which follow
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (saved[i].second >= 0 && saved[i].second == buffers[i]._version()) continue;
      const InferenceMode mode(buffers[i].is_inference());
      Variable(buffers[i]).copy_(saved[i].first);
    }
  };
  try {
    // A module may override train(), so it is called only if a mode changes.
    if (std::any_of(modes.begin(), modes.end(), [&](const auto& mode) { return mode.second != train; }))
      root.train(train);
    run();
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

}  // namespace

Summary summary(nn::Module& module, const std::function<void()>& run, const SummaryOptions& options,
                const variable_list& inputs) {
  EBB_CHECK(options.depth() >= 0, "summary: depth must be 0 (only the module itself) or more, got ",
            options.depth(), ".");
  Summary out;
  out.options = options;
  out.ran = static_cast<bool>(run);
  out.str();  // checks the columns
  for (const Variable& x : inputs) out.input_bytes += static_cast<std::int64_t>(x.nbytes());
  const auto calls = std::make_shared<Calls>(module);
  if (run) record(module, calls, run, options.train(), inputs);
  calls->finish(out);
  return out;
}

Summary detail::summary_of(nn::Module& module, const variable_list& inputs, const SummaryOptions& options,
                           const nn::detail::AnyForward& forward) {
  std::vector<nn::AnyValue> arguments;
  for (const Variable& x : inputs) {
    EBB_CHECK(x.defined(), "summary: input ", std::uint64_t{arguments.size()}, " of ", module.name(),
              " is undefined. Pass a tensor of the module's input shape, as ebb::zeros({1, 3, 224, 224}).");
    arguments.emplace_back(x);
  }
  if (inputs.empty()) return summary(module, nullptr, options);
  return summary(module, [&] { forward.forward(module, arguments); }, options, inputs);
}

}  // namespace ebb::watch
