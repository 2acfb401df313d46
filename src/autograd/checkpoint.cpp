// Checkpointing: backward runs a function again to recompute its saved tensors.
#include <ebb/autograd/checkpoint.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/saved_variable.h>

#include "autograd/meta.h"
#include "autograd/random_states.h"
#include "autograd/thread_state.h"

#include <optional>
#include <utility>

namespace ebb::autograd {
namespace {

// Draws from earlier states of the generators, and restores their current states at the end.
class RedrawScope {
 public:
  explicit RedrawScope(const std::optional<RandomStates>& from) {
    if (!from) return;
    now_.emplace();
    from->set();
  }
  ~RedrawScope() {
    if (now_) now_->set();
  }
  RedrawScope(const RedrawScope&) = delete;
  RedrawScope& operator=(const RedrawScope&) = delete;

 private:
  std::optional<RandomStates> now_;
};

// The inputs and the state with which a checkpointed call runs again, and the recomputed tensors.
struct Frame {
  std::function<variable_list(const variable_list&)> fn;
  variable_list inputs;
  std::vector<std::uint32_t> versions;  // versions of the inputs before the first run
  std::vector<std::uint32_t> forms;     // AutogradMeta::form of the inputs before the first run
  std::optional<RandomStates> random = RandomStates();  // before the first run; none if it drew no numbers
  AutocastSetting autocast = AutocastSetting::now();
  std::size_t kept = 0;  // number of tensors that the first run saved
  variable_list recomputed;
  std::vector<std::uint32_t> recomputed_versions;

  const Variable& tensor(std::size_t i) {
    check_inputs();
    if (recomputed.empty()) recompute();
    EBB_CHECK(recomputed[i].impl()->version() == recomputed_versions[i],
              "checkpoint: a tensor that the function ", "saved for backward [", recomputed[i],
              "] has been modified by an inplace operation: it is at version ",
              recomputed[i].impl()->version(), "; expected version ", recomputed_versions[i],
              " instead. Write out of place, or clone() it before modifying.");
    return recomputed[i];
  }

  // Throws if an input was modified in place or given unsuitable data, because the second run would silently
  // compute other gradients.
  void check_inputs() const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].defined()) continue;
      EBB_CHECK(inputs[i].impl()->version() == versions[i], "checkpoint: input ", std::uint64_t{i}, " [",
                inputs[i],
                "], with which the function is run again, has been modified by an inplace operation: it is "
                "at version ",
                inputs[i].impl()->version(), "; expected version ", versions[i],
                " instead. Write out of place, or clone() it before modifying.");
      EBB_CHECK(form_of(inputs[i]) == forms[i], "checkpoint: input ", std::uint64_t{i}, " [", inputs[i],
                "], with which the function is run again, has been given other data by set_data(), set_() or "
                "resize_(). Give it other data after backward(), or clone() it before the forward pass.");
    }
  }

  void recompute() {
    const InferenceMode record(false);
    const AutocastAgain casting(autocast);
    const RedrawScope draw_again(random);
    variable_list x;
    for (const Variable& input : inputs)
      x.push_back(input.requires_grad() ? input.detach().requires_grad_() : input);
    variable_list saved;
    std::vector<std::uint32_t> saved_versions;
    SavedTensorHooks hooks(
        [&](const Variable& t) {
          saved.push_back(t.detach());
          saved_versions.push_back(t.impl()->version());
          return std::shared_ptr<void>();
        },
        [](const std::shared_ptr<void>&) -> Variable {
          detail::fail(
              "checkpoint: the function calls backward() on its own results. Such a function cannot be "
              "checkpointed.");
        });
    fn(x);
    EBB_CHECK(saved.size() == kept, "checkpoint: the function saved ", std::uint64_t{saved.size()},
              " tensors for backward in the second run and ", std::uint64_t{kept},
              " in the first. It must be deterministic.");
    recomputed = std::move(saved);
    recomputed_versions = std::move(saved_versions);
  }
};

}  // namespace

variable_list checkpoint(std::function<variable_list(const variable_list&)> fn, const variable_list& inputs) {
  auto frame = std::make_shared<Frame>();
  frame->fn = std::move(fn);
  frame->inputs = inputs;
  for (const Variable& input : inputs) {
    frame->versions.push_back(input.defined() ? input.impl()->version() : 0);
    frame->forms.push_back(input.defined() ? form_of(input) : 0);
  }
  SavedTensorHooks hooks([frame](const Variable&) { return std::make_shared<std::size_t>(frame->kept++); },
                         [frame](const std::shared_ptr<void>& index) {
                           return frame->tensor(*static_cast<const std::size_t*>(index.get()));
                         });
  variable_list results = frame->fn(inputs);
  if (frame->random->are_current()) frame->random.reset();
  return results;
}

Variable checkpoint(std::function<Variable(const Variable&)> fn, const Variable& input) {
  return checkpoint([fn = std::move(fn)](const variable_list& x) { return variable_list{fn(x[0])}; },
                    {input})[0];
}

}  // namespace ebb::autograd
