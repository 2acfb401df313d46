// Watches that writes are counted.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "random_programs/program.h"
#include "random_programs/state.h"

namespace programs {

/// Knows the bytes and the version counters of a state's tensors. Every statement that changes the bytes of a
/// tensor has to count that as a write, for the graphs that saved the tensor; but SGD's steps do not.
class VersionWatch {
 public:
  /// After the statement ran; throws ebb::Error for a write that no version counts. Tensors of more than
  /// 16 KiB are not looked at.
  void look(const State& state, const Statement& statement);

 private:
  struct Known {
    ebb::Ref<ebb::Storage> storage;  // kept, so that no other one takes its address
    std::size_t hash = 0;
    std::uint32_t version = 0;
  };
  std::unordered_map<const ebb::Storage*, Known> known_;
};

}  // namespace programs
