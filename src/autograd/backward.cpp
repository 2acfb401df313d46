// backward() and grad(): checks the arguments, seeds the roots and runs a GraphTask.
#include <ebb/autograd/backward.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/start_thread.h>
#include <ebb/core/warning.h>

#include "autograd/diagnostics.h"
#include "autograd/graph_task.h"
#include "autograd/thread_state.h"
#include "core/backend.h"
#include "core/capture.h"
#include "core/messages.h"
#include "core/recorder.h"

#include <exception>
#include <thread>

namespace ebb::autograd {
namespace {

constexpr int kDepthPerThread = 24;  // the limit of nested backward passes on one stack
constexpr int kDeepest = 10000;      // the limit of nested backward passes in total

// Checks that a root has the shape and device that its node recorded; set_data() may have changed them.
void check_root(const Variable& root, const Edge& edge) {
  if (edge.function->num_outputs() == 0) return;  // a leaf accepts any gradient that fits its data
  const OutputMeta& meta = edge.function->output_meta(edge.input_nr);
  const NdArray& data = root.array();
  EBB_CHECK(IntArrayRef(meta.sizes) == data.sizes() && meta.device == data.device(),
            "backward: ", edge.function->name(), " computed an output of shape ", IntArrayRef(meta.sizes),
            " on ", meta.device, ", which is now of shape ", root.sizes(), " on ", root.device(),
            ". Differentiate before set_data(), or compute the output again.");
}

Variable seed_for(const Variable& root, const variable_list& seeds, std::size_t i) {
  Variable seed = i < seeds.size() ? seeds[i] : Variable();
  if (!seed.defined()) {
    EBB_CHECK(root.numel() == 1, "grad can be implicitly created only for scalar outputs; got shape ",
              root.sizes(), ". Pass a gradient of that shape, or reduce with sum() first.");
    return root.new_ones(root.sizes());
  }
  const NdArray &given = seed.array(), &data = root.array();
  EBB_CHECK(given.sizes() == data.sizes(), "Mismatch in shape: grad_output[", std::uint64_t{i},
            "] has a shape of ", seed.sizes(), " and output[", std::uint64_t{i}, "] has a shape of ",
            root.sizes(), ".");
  EBB_CHECK(given.device() == data.device(), "grad_output[", std::uint64_t{i}, "] is on ", seed.device(),
            " and output[", std::uint64_t{i}, "] is on ", root.device(),
            ". Move the gradient with .to(device).");
  return given.dtype() == data.dtype() ? seed : seed.to(data.dtype());
}

// The state of a thread that affects the results of ops: modes and hooks, the current device and its streams,
// and the graph that is being captured. Each thread's caches of memory and library handles are not included.
struct ThreadContext {
  ThreadState modes = thread_state;
  std::uint32_t place = current_place;
  const detail::Backend* device = detail::loaded_backend(kCUDA);
  std::shared_ptr<const void> device_state = device ? device->thread_state() : nullptr;
  detail::Capture* capture = detail::current_capture();
  detail::Recorder* recorder = detail::current_recorder();

  void enter() const {
    thread_state = modes;
    current_place = place;
    detail::set_current_capture(capture);
    detail::set_current_recorder(recorder);
    if (device) device->set_thread_state(device_state.get());
  }
};

// Runs f on this thread. If the stack already contains many nested passes, runs f on a new thread instead.
// The new thread starts with this thread's state, and its final state is copied back.
template <class F>
void with_stack(F&& f) {
  struct Depth {
    Depth() { ++thread_state.backward_depth; }
    ~Depth() { --thread_state.backward_depth; }
  } depth;
  EBB_CHECK(
      thread_state.backward_depth <= kDeepest, "backward: ", std::int64_t{kDeepest},
      " nested calls are running. A hook or a function calls backward() or grad(), which calls the hook or "
      "function again. Stop this recursion at some depth.");
  if (thread_state.backward_depth % kDepthPerThread != 0) return f();
  ThreadContext here;
  std::exception_ptr error;
  const auto attempt = [&](auto&& step) {
    try {
      step();
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  };
  ebb::detail::start_thread<std::thread>("backward, within many walks", [&] {
    attempt([&] { here.enter(), f(); });
    attempt([&] { here = {}; });
  }).join();
  here.enter();
  if (error) std::rethrow_exception(error);
}

variable_list walk(const variable_list& roots, const variable_list& seeds, BackwardOptions options,
                   const variable_list& inputs, bool accumulate) {
  EBB_CHECK(!roots.empty(), "backward: no outputs were given.");
  EBB_CHECK(seeds.empty() || seeds.size() == roots.size(), "got ", std::uint64_t{roots.size()},
            " tensors and ", std::uint64_t{seeds.size()},
            " gradients; give one gradient for each tensor, or none.");
  variable_list captured;
  with_stack([&] {
    // Sets the modes of the pass and restores the previous ones, also after exceptions. Autocast is off:
    // saved tensors have the dtypes that autocast chose, and its casts were recorded, so gradients need no
    // casts.
    AutoGradMode grad_mode(options.create_graph);
    const AutocastDevices no_autocast(0);
    GraphTask task(options);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      const Variable& root = roots[i];
      const Edge edge = root.defined() && root.requires_grad() ? gradient_edge(root) : Edge{};
      EBB_CHECK(edge.is_valid(), "element ", std::uint64_t{i},
                " of tensors does not require grad and does not have a grad_fn. Call requires_grad_() on the "
                "leaves, ",
                "and check that no NoGradGuard was alive in the forward pass.");
      check_root(root, edge);
      task.add_root(edge, seed_for(root, seeds, i));
    }
    for (const Variable& input : inputs) {
      EBB_CHECK(input.defined() && input.requires_grad(),
                "One of the differentiated Tensors does not require grad. Call requires_grad_() on it before "
                "the forward pass.");
      const bool leaf = input.is_leaf();
      if (accumulate && !leaf) input.retain_grad();
      task.add_target(gradient_edge(input), accumulate && leaf);
    }
    if (detail::Recorder* const recorder = detail::recorder()) [[unlikely]]
      for (const Variable& root : roots) recorder->backward_begins(root);
    captured = task.run();
  });
  if (detail::Recorder* recorder = options.keep_graph ? nullptr : detail::recorder()) [[unlikely]]
    for (const Variable& root : roots) recorder->backward_ended(root);
  return captured;
}

}  // namespace

void backward(const variable_list& roots, const variable_list& seeds, optional<bool> retain_graph,
              bool create_graph, const variable_list& inputs, CallSite called) {
  static constinit std::atomic_flag warned;
  if (create_graph && warns_first(warned))
    warn(
        "Using backward() with create_graph=True: a parameter and its gradient then hold each other, and "
        "their memory is not freed. Use autograd::grad(), or drop the gradients (zero_grad(true)) when they "
        "are not needed any more.");
  try {
    walk(roots, seeds, {retain_graph.value_or(create_graph), create_graph}, inputs, true);
  } catch (const Error&) {
    detail::rethrow_with(
        detail::text("\n  in backward() called at ", called.file, ':', std::uint64_t{called.line}));
  }
}

variable_list grad(const variable_list& outputs, const variable_list& inputs,
                   const variable_list& grad_outputs, optional<bool> retain_graph, bool create_graph,
                   bool allow_unused) {
  EBB_CHECK(!inputs.empty(), "grad requires non-empty inputs.");
  variable_list grads =
      walk(outputs, grad_outputs, {retain_graph.value_or(create_graph), create_graph}, inputs, false);
  for (std::size_t i = 0; i < grads.size(); ++i)
    EBB_CHECK(allow_unused || grads[i].defined(),
              "One of the differentiated Tensors appears to not have been used in the graph (input ",
              std::uint64_t{i}, ", shape ", inputs[i].sizes(),
              "). Set allow_unused=true if this is the desired behavior.");
  return grads;
}

}  // namespace ebb::autograd
