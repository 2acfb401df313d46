// load_state and StateSource: load a state into a module from memory or from a file.
#pragma once

#include <ebb/core/small_vector.h>
#include <ebb/nn/module.h>

#include <string>
#include <vector>

namespace ebb::nn {

/// Named tensors. Their values are read one at a time, so that not all tensors of a file need to be in
/// memory.
class StateSource {
 public:
  virtual ~StateSource() = default;
  virtual std::vector<std::string> keys() const = 0;
  struct Info {
    DimVector sizes;
    DType dtype = DType::Undefined;
    std::string obstacle;  // the reason why the tensor cannot be loaded, as the rest of a sentence, or empty
  };
  /// Returns the shape and dtype of a tensor, or nullopt if there is no tensor of that name.
  virtual optional<Info> info(const std::string& key) const = 0;
  /// Returns the tensor `key` on the device of `old`, the module's current tensor, which it replaces.
  virtual Variable tensor(const std::string& key, const Variable& old) const = 0;
  /// Copies the tensor into `target`, which has the same shape.
  virtual void copy_to(const std::string& key, Variable& target) const = 0;
};

/// Implements Module::load_state_dict.
IncompatibleKeys load_state(Module& module, const StateSource& source, bool strict, bool assign);
/// Throws the errors that load_state() throws before it loads anything.
void check_state(Module& module, const StateSource& source, bool strict, bool assign);

}  // namespace ebb::nn
