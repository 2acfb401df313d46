#include "autograd/saved_hooks.h"

#include <ebb/autograd/grad_mode.h>

#include "autograd/thread_state.h"

#include <vector>

namespace ebb::autograd {
namespace {

struct Hooks {
  std::shared_ptr<void> context;
  SavedTensorHooks::Pack pack;
  SavedTensorHooks::Unpack unpack;
};

// What a pack hook returned, with the hook that understands it.
struct Packed {
  std::shared_ptr<void> value;
  Hooks hooks;
};

thread_local std::vector<Hooks> stack;

}  // namespace

void SavedTensorHooks::push(std::shared_ptr<void> context, Pack pack, Unpack unpack) {
  stack.push_back({std::move(context), pack, unpack});
  thread_state.saved_hooks = true;
}

SavedTensorHooks::~SavedTensorHooks() {
  stack.pop_back();
  thread_state.saved_hooks = !stack.empty();
}

std::shared_ptr<void> pack_saved(const Variable& x) {
  const Hooks hooks = stack.back();
  NoGradGuard no_grad;
  thread_state.saved_hooks = false;  // what the hook itself computes is not packed
  std::shared_ptr<void> value;
  try {
    value = hooks.pack(hooks.context.get(), x);
  } catch (...) {
    thread_state.saved_hooks = true;
    throw;
  }
  thread_state.saved_hooks = true;
  return std::make_shared<Packed>(Packed{std::move(value), hooks});
}

Variable unpack_saved(const std::shared_ptr<void>& packed) {
  const auto& p = *static_cast<const Packed*>(packed.get());
  Variable x = p.hooks.unpack(p.hooks.context.get(), p.value);
  EBB_CHECK(x.defined(), "SavedTensorHooks: the unpack hook returned an undefined tensor.");
  return x;
}

}  // namespace ebb::autograd
