// Hooks that pack and unpack saved tensors.
#include "autograd/saved_hooks.h"

#include <ebb/autograd/grad_mode.h>

#include "autograd/thread_state.h"

#include <utility>

namespace ebb::autograd {

// One guard. They form a stack, the innermost first, that the thread's state points to.
struct SavedHooksFrame {
  std::shared_ptr<void> context;
  SavedTensorHooks::Pack pack;
  SavedTensorHooks::Unpack unpack;
  SavedHooksFrame* outer;
};

namespace {

// What a pack hook returned, with the hook that understands it.
struct Packed {
  std::shared_ptr<void> value;
  std::shared_ptr<void> context;
  SavedTensorHooks::Unpack unpack;
};

}  // namespace

void SavedTensorHooks::push(std::shared_ptr<void> context, Pack pack, Unpack unpack) {
  thread_state.saved_hooks = new SavedHooksFrame{std::move(context), pack, unpack, thread_state.saved_hooks};
}

SavedTensorHooks::~SavedTensorHooks() {
  const std::unique_ptr<SavedHooksFrame> frame(thread_state.saved_hooks);
  thread_state.saved_hooks = frame->outer;
}

std::shared_ptr<void> pack_saved(const Variable& x) {
  // What the hook itself computes is not packed.
  struct Aside {
    SavedHooksFrame* frame = std::exchange(thread_state.saved_hooks, nullptr);
    ~Aside() { thread_state.saved_hooks = frame; }
  } aside;
  const SavedHooksFrame& hooks = *aside.frame;
  NoGradGuard no_grad;
  std::shared_ptr<void> value = hooks.pack(hooks.context.get(), x);
  return std::make_shared<Packed>(Packed{std::move(value), hooks.context, hooks.unpack});
}

Variable unpack_saved(const std::shared_ptr<void>& packed) {
  const auto& p = *static_cast<const Packed*>(packed.get());
  Variable x = p.unpack(p.context.get(), p.value);
  EBB_CHECK(x.defined(), "SavedTensorHooks: the unpack hook returned an undefined tensor.");
  return x;
}

}  // namespace ebb::autograd
