// A tensor kept for backward.
#pragma once

#include <ebb/autograd/node.h>

#include <memory>

namespace ebb::autograd {

/// A member of a Node: `SavedVariable self{this};`. It remembers the version of the data, and unpack() throws
/// if an in-place op has changed it since, or if backward has already freed it.
class EBB_API SavedVariable {
 public:
  explicit SavedVariable(Node* owner);
  SavedVariable(const SavedVariable&) = delete;
  SavedVariable& operator=(const SavedVariable&) = delete;
  ~SavedVariable();

  /// Keeps an input of the op (or any tensor made on the way). An undefined tensor is allowed.
  void save(const Variable& x);
  /// Keeps an output of the op: without its node, which would be a cycle.
  void save_output(const Variable& y);
  /// The tensor, as part of the graph. Throws ebb::Error when freed or modified.
  Variable unpack() const;
  /// Whether something was saved that no in-place op has changed since.
  bool is_intact() const;
  /// Frees the tensor.
  void release();

  bool holds() const { return state_ == State::input || state_ == State::output || state_ == State::packed; }
  /// The tensor as kept (undefined when packed by a hook or freed), for graph drawings and memory reports.
  const Variable& kept() const { return kept_; }
  /// Whether what is kept is an input of the op, or something made on the way, rather than an output.
  bool is_input() const { return state_ == State::input; }
  const SavedVariable* next() const { return next_; }

 private:
  void pack(const Variable& x, Edge edge);
  Variable unpack_packed() const;

  enum class State : std::uint8_t { never, undefined, input, output, packed, released };

  Variable kept_;
  Node* owner_;
  SavedVariable* next_;
  std::shared_ptr<void> packed_;
  Ref<Node> packed_edge_;  // where the gradient of a packed input goes
  std::uint32_t version_ = 0;
  std::uint32_t output_nr_ = 0;
  State state_ = State::never;
  bool packed_output_ = false;

  friend class Node;
};

/// Replaces the way tensors are kept for backward while it lives, on this thread: `pack` turns a tensor into
/// anything (a file, a compressed copy), `unpack` turns it back (torch.autograd.graph.saved_tensors_hooks).
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
