// Named tensors on their way to a file or from one.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ebb::serialize {

/// Collects tensors and other archives under names, and writes them as one safetensors file in which nested
/// names are joined by dots (torch::serialize::OutputArchive).
class EBB_API OutputArchive {
 public:
  void write(const std::string& key, const Variable& tensor, bool is_buffer = false);
  void write(const std::string& key, const OutputArchive& nested);
  void save_to(const std::string& path) const;
  void save_to(std::ostream& stream) const;
  const std::vector<std::pair<std::string, Variable>>& tensors() const { return tensors_; }

 private:
  std::vector<std::pair<std::string, Variable>> tensors_;
};

/// What a file holds, to be read by name (torch::serialize::InputArchive).
class EBB_API InputArchive {
 public:
  InputArchive() = default;
  /// Of tensors that are there already.
  explicit InputArchive(std::vector<std::pair<std::string, Variable>> tensors) {
    take(std::move(tensors), {});
  }

  /// With a device, everything that is read from the archive comes in its memory.
  void load_from(const std::string& path, optional<Device> device = nullopt);
  void load_from(std::istream& stream, optional<Device> device = nullopt);
  /// Puts the tensor of that name into `tensor`: on the device that load_from was given, else on that of what
  /// `tensor` holds. Throws with the nearest names if there is none.
  void read(const std::string& key, Variable& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, Variable& tensor, bool is_buffer = false);
  /// The archive written under that name.
  void read(const std::string& key, InputArchive& nested);
  bool try_read(const std::string& key, InputArchive& nested);
  /// The names at this level.
  std::vector<std::string> keys() const;
  const std::vector<std::pair<std::string, Variable>>& tensors() const { return tensors_; }
  /// What the file holds in dtypes that ebb does not have, with those; to read one of them is an error.
  const std::map<std::string, std::string>& unsupported() const { return unsupported_; }

 private:
  using Tensors = std::vector<std::pair<std::string, Variable>>;
  void take(Tensors tensors, std::map<std::string, std::string> unsupported);
  std::vector<std::size_t>::const_iterator first_not_before(const std::string& name) const;

  optional<Device> device_;
  Tensors tensors_;
  std::vector<std::size_t> by_name_;  // positions of the tensors, sorted by their names
  std::map<std::string, std::string> unsupported_;
};

}  // namespace ebb::serialize
