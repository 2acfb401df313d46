// summary: records the calls of a network's modules by hooks.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/modules/multi_head_attention.h>
#include <ebb/watch/summary.h>

#include "watch/class_name.h"
#include "watch/kept_generator.h"
#include "watch/module_hooks.h"

#include <algorithm>
#include <exception>
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

// Returns the size of a kernel from the printed options, which are alike for all convolutions and poolings.
std::string kernel_of(const nn::Module& module) {
  static const std::regex pattern(R"(kernel_size=\[?([0-9]+(, [0-9]+)*))");
  std::ostringstream text;
  module.pretty_print(text);
  const std::string options = text.str();
  std::smatch match;
  return std::regex_search(options, match, pattern) ? match[1].str() : "";
}

/// The calls so far, as a tree. Unknown modules (copies) and other threads are ignored.
class Calls {
 public:
  explicit Calls(nn::Module& root) : owners_(root.modules(/*include_self=*/false)) {
    root.apply([&](const std::string& path, nn::Module& module) {
      if (paths_[&module].empty()) modules_.push_back(&module);
      paths_[&module].push_back(path);
    });
    add(top_, root, "");
  }
  const std::vector<nn::Module*>& modules() const { return modules_; }

  void enter(nn::Module& module, const variable_list& inputs) {
    if (ignores(module)) return;
    open_.push_back(&entry_of_call(module));
    open_.back()->row.inputs = shapes_of(inputs);
  }
  void leave(nn::Module& module, const variable_list&, const variable_list& outputs) {
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
    set_outputs(entry_of_call(module).row, outputs);
  }

  void finish(Summary& out) {
    add_uncalled(root());
    list(root(), 0, out);
  }

 private:
  struct Entry {
    const nn::Module* module;
    SummaryRow row;
    std::list<Entry> below;
  };

  Entry& root() { return top_.front(); }
  bool ignores(const nn::Module& module) const {
    return std::this_thread::get_id() != thread_ || !paths_.contains(&module);
  }
  static void set_outputs(SummaryRow& row, const variable_list& outputs) {
    row.outputs = shapes_of(outputs);
    const auto first = std::ranges::find_if(outputs, &Variable::defined);
    if (first != outputs.end()) row.output_bytes = static_cast<std::int64_t>(first->nbytes());
  }

  Entry& add(std::list<Entry>& to, const nn::Module& module, const std::string& path) {
    Entry& entry = to.emplace_back(Entry{&module, {}, {}});
    entry.row.path = path;
    entry.row.name = path.substr(path.rfind('.') + 1);
    entry.row.type = class_name(module);
    entry.row.recursive = !with_row_.insert(&module).second;
    return entry;
  }

  // Returns the entry of a path below `above`: a new one if there is none, or if it is called again.
  Entry& entry_below(Entry& above, const std::string& path, bool called) {
    const auto found = std::ranges::find_if(
        above.below, [&](const Entry& e) { return e.row.path == path && !(called && e.row.called); });
    return found != above.below.end() ? *found : add(above.below, *root().module->get_submodule(path), path);
  }

  // Returns the entry of a new call, below that of the innermost running call. Modules between both, for
  // example a ModuleList, get one entry. Of a shared module's paths, one below the caller is used.
  Entry& entry_of_call(const nn::Module& module) {
    Entry* at = open_.empty() ? &root() : open_.back();
    if (!open_.empty() || &module != at->module) {
      const std::string above = at->row.path.empty() ? "" : at->row.path + ".";
      const std::vector<std::string>& paths = paths_.at(&module);
      const auto path = std::ranges::find_if(
          paths, [&](const std::string& each) { return each.starts_with(above) && !each.empty(); });
      if (path == paths.end()) {
        at = &add(at->below, module, paths[0]);
      } else {
        for (auto dot = path->find('.', above.size()); dot != path->npos; dot = path->find('.', dot + 1))
          at = &entry_below(*at, path->substr(0, dot), false);
        at = &entry_below(*at, *path, true);
      }
    }
    at->row.called = true;
    return *at;
  }

  // A MultiheadAttention uses the parameters of its submodules itself, which therefore get no rows.
  void add_uncalled(Entry& entry) {
    if (!entry.below.empty() || !entry.module->as<nn::MultiheadAttention>())
      for (const auto& [name, module] : entry.module->named_children().pairs())
        if (!with_row_.contains(module.get()))
          add(entry.below, *module, entry.row.path + (entry.row.path.empty() ? "" : ".") + name);
    for (Entry& each : entry.below) add_uncalled(each);
  }

  // Adds the row of an entry, with its figures, and the rows below. A layer is a module without rows below.
  void list(Entry& entry, std::int64_t depth, Summary& out) {
    SummaryRow& row = entry.row;
    const bool layer = entry.below.empty();
    row.depth = depth;
    row.index = ++numbers_[depth];
    row.kernel = kernel_of(*entry.module);
    for (const Variable& each : entry.module->parameters()) {
      row.params += each.numel();
      row.trainable_params += each.requires_grad() ? each.numel() : 0;
    }
    std::int64_t used = 0;
    for (const auto& each : entry.module->named_parameters(/*recurse=*/layer)) {
      const std::int64_t count = each->numel();
      row.own.push_back({each.key(), shape_of(*each), count, each->requires_grad()});
      if (contains(each.key(), "weight") || contains(each.key(), "bias")) used += count;
      if (!counted_.insert(each->impl()).second) continue;
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
    out.rows.push_back(std::move(row));
    for (Entry& each : entry.below) list(each, depth + 1, out);
  }

  const std::thread::id thread_ = std::this_thread::get_id();
  const std::vector<std::shared_ptr<nn::Module>> owners_;
  std::vector<nn::Module*> modules_;  // each once, parents first
  std::unordered_map<const nn::Module*, std::vector<std::string>> paths_;
  std::list<Entry> top_;      // the root alone
  std::vector<Entry*> open_;  // the calls that are running, outermost first
  std::unordered_set<const nn::Module*> with_row_;
  std::unordered_set<const VariableImpl*> counted_;
  std::unordered_map<std::int64_t, std::int64_t> numbers_;  // of rows of each depth
};

// Calls `run` with hooks, and restores hooks, modes, buffers and generators.
void record(nn::Module& root, const std::shared_ptr<Calls>& calls, const std::function<void()>& run,
            bool train, const variable_list& inputs) {
  const NoGradGuard no_grad;
  const std::vector<Variable> buffers = root.buffers();
  std::vector<std::pair<Variable, std::int64_t>> saved;  // copies and versions
  for (const Variable& x : buffers) saved.emplace_back(x.clone(), x.is_inference() ? -1 : x._version());
  std::set<std::string> devices{"cpu"};
  for (const variable_list& tensors : {root.parameters(), buffers, inputs})
    for (const Variable& x : tensors) devices.insert(x.device().str());
  const std::list<KeptGenerator> generators(devices.begin(), devices.end());
  std::vector<std::pair<nn::Module*, bool>> modes;
  std::vector<nn::RemovableHandle> handles;
  for (nn::Module* module : calls->modules()) {
    modes.emplace_back(module, module->is_training());
    handles.push_back(module->register_forward_pre_hook(while_alive(calls, &Calls::enter)));
    handles.push_back(module->register_forward_hook(while_alive(calls, &Calls::leave)));
    handles.push_back(nn::detail::add_hook<&nn::detail::ModuleHooks::observers>(
        nn::detail::ModuleAccess::hooks(*module).get_or_create(),
        nn::detail::ForwardObserver(while_alive(calls, &Calls::observe))));
  }
  std::exception_ptr error;
  try {
    // A module may override train(), so it is called only if a mode changes.
    if (std::ranges::any_of(modes, [&](const auto& mode) { return mode.second != train; })) root.train(train);
    run();
  } catch (...) {
    error = std::current_exception();
  }
  remove_hooks(root, handles);
  for (const auto& [module, was_training] : modes)
    if (module->is_training() != was_training) module->train(was_training);  // and submodules, which follow
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (saved[i].second >= 0 && saved[i].second == buffers[i]._version()) continue;
    const InferenceMode mode(buffers[i].is_inference());
    Variable(buffers[i]).copy_(saved[i].first);
  }
  if (error) std::rethrow_exception(error);
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
