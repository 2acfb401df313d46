// SavedVariable: a tensor saved for backward.
#pragma once

#include <ebb/autograd/node.h>

#include <memory>

namespace ebb::autograd {

/// A member of a Node: `SavedVariable self{this};`. It records the version of the saved tensor. unpack()
/// throws if an in-place op has changed the tensor since, if the tensor was given unsuitable data, or if
/// backward has freed it.
class EBB_API SavedVariable {
 public:
  explicit SavedVariable(Node* owner);
  SavedVariable(const SavedVariable&) = delete;
  SavedVariable& operator=(const SavedVariable&) = delete;
  ~SavedVariable();

  /// Saves an input of the op, or any intermediate tensor. An undefined tensor is allowed.
  void save(const Variable& x);
  /// Saves an output of the op without its node, because a reference to the node would be a cycle.
  void save_output(const Variable& y);
  /// Returns the tensor with its graph history. Throws ebb::Error if it was freed or modified.
  Variable unpack() const;
  /// Returns unpack(), or an undefined tensor if an in-place op or set_data() has changed the tensor since.
  Variable unpack_unless_changed() const;
  /// Frees the tensor.
  void release();

  bool holds() const { return state_ == State::input || state_ == State::output || state_ == State::packed; }
  /// Returns the saved tensor, for graph drawings and memory reports. The result is undefined if a hook
  /// packed the tensor or if the tensor was freed.
  const Variable& kept() const { return kept_; }
  /// Returns whether the saved tensor is an input of the op or an intermediate tensor, not an output.
  bool is_input() const { return state_ == State::input; }
  const SavedVariable* next() const { return next_; }

 private:
  void pack(const Variable& x, Edge edge, bool is_output);
  Variable unpack_packed() const;
  bool is_usable() const;
  [[noreturn]] void modified_error(const Variable& x) const;

  enum class State : std::uint8_t { never, undefined, input, output, packed, released };

  // A tensor that a hook packed.
  struct Packed {
    std::shared_ptr<void> object;
    Ref<Node> edge;          // the destination of an input's gradient
    OutputMeta meta;         // of the tensor that was packed
    const Storage* storage;  // of that tensor; only compared, because it may be freed
    bool is_output;
  };

  Variable kept_;
  Node* owner_;
  SavedVariable* next_;
  std::unique_ptr<Packed> packed_;
  std::uint32_t version_ = 0;
  std::uint32_t form_ = 0;  // AutogradMeta::form of an input
  std::uint32_t output_nr_ = 0;
  State state_ = State::never;
  std::uint16_t arrays_ = 0;  // AutogradMeta::arrays of an input

  friend class Node;
};

/// A guard that changes how tensors are saved for backward on this thread while it exists. `pack` converts a
/// tensor to any object (a file, a compressed copy), and `unpack` converts it back
/// (torch.autograd.graph.saved_tensors_hooks).
class EBB_API SavedTensorHooks {
 public:
  using Pack = std::shared_ptr<void> (*)(void* context, const Variable& x);
  using Unpack = Variable (*)(void* context, const std::shared_ptr<void>& packed);
  /// pack: std::shared_ptr<void>(const Variable&); unpack: Variable(const std::shared_ptr<void>&).
  template <class P, class U>
  SavedTensorHooks(P pack, U unpack);
  ~SavedTensorHooks();
  SavedTensorHooks(const SavedTensorHooks&) = delete;
  SavedTensorHooks& operator=(const SavedTensorHooks&) = delete;

 private:
  struct State;
  void push(std::shared_ptr<void> context, Pack pack, Unpack unpack);
};

template <class P, class U>
SavedTensorHooks::SavedTensorHooks(P pack, U unpack) {
  struct Both {
    P pack;
    U unpack;
  };
  push(
      std::make_shared<Both>(Both{std::move(pack), std::move(unpack)}),
      [](void* both, const Variable& x) -> std::shared_ptr<void> {
        return static_cast<Both*>(both)->pack(x);
      },
      [](void* both, const std::shared_ptr<void>& packed) -> Variable {
        return static_cast<Both*>(both)->unpack(packed);
      });
}

}  // namespace ebb::autograd
