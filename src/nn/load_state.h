// Loading a state into a module, from wherever its tensors are.
#pragma once

#include <ebb/core/small_vector.h>
#include <ebb/nn/module.h>

#include <string>
#include <vector>

namespace ebb::nn {

/// Named tensors whose values are fetched one at a time, so that a file's need not all be in memory.
class StateSource {
 public:
  virtual ~StateSource() = default;
  virtual std::vector<std::string> keys() const = 0;
  struct Info {
    DimVector sizes;
    DType dtype = DType::Undefined;
    std::string obstacle;  // why the tensor cannot be had, as the rest of a sentence, or empty
  };
  /// What is known of a tensor, or nothing if there is none of that name.
  virtual optional<Info> info(const std::string& key) const = 0;
  /// The tensor, for the module to keep; `old` is what it keeps now.
  virtual Variable tensor(const std::string& key, const Variable& old) const = 0;
  /// Copies into a tensor of the same shape.
  virtual void copy_to(const std::string& key, Variable& target) const = 0;
};

/// Module::load_state_dict.
IncompatibleKeys load_state(Module& module, const StateSource& source, bool strict, bool assign);
/// Throws what that would before it loads anything.
void check_state(Module& module, const StateSource& source, bool strict, bool assign);

}  // namespace ebb::nn
