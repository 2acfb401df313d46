// What autograd keeps for each thread.
#pragma once

#include <cstdint>

namespace ebb::autograd {

class Node;
struct SavedHooksFrame;

// Copied as a whole to the thread that continues a deep walk, and back: see backward.cpp.
struct ThreadState {
  bool grad_mode = true;
  bool inference_mode = false;
  bool anomaly_mode = false;
  bool check_nan = true;
  SavedHooksFrame* saved_hooks = nullptr;  // of the innermost SavedTensorHooks guard
  int backward_depth = 0;                  // nested walks
  std::uint64_t next_sequence_nr = 0;      // nodes recorded so far
  Node* dead_nodes = nullptr;              // waiting to be deleted by the outermost Node::destroy
  bool deleting_nodes = false;
  Node* evaluating = nullptr;  // the node whose apply() is running: parent of nodes recorded in it
};

// One thread_local object without a constructor: an access is one instruction, no guard.
extern constinit thread_local ThreadState thread_state [[gnu::tls_model("initial-exec")]];

}  // namespace ebb::autograd
