// OutputArchive and InputArchive: write named tensors to a file and read them back.
#pragma once

#include <ebb/autograd/variable.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ebb::autograd {
class SavedValue;
}

namespace ebb::serialize {

/// Writes the next `size` bytes and returns the number of bytes written. Fewer than `size` is an error.
using WriteFunction = std::function<std::size_t(const void* data, std::size_t size)>;
/// Copies at most `size` bytes from `position` to `to`. Returns the number of bytes copied, which is 0 at the
/// end of the data.
using ReadFunction = std::function<std::size_t(std::uint64_t position, void* to, std::size_t size)>;
/// Returns the total number of bytes.
using SizeFunction = std::function<std::size_t()>;

namespace detail {
/// Calls `body` with a stream that writes through `write`, or with one that reads through the two functions.
/// The second overload reads all bytes before it calls `body`.
EBB_API void with_stream(const WriteFunction& write, const std::function<void(std::ostream&)>& body);
EBB_API void with_stream(const ReadFunction& read, const SizeFunction& size,
                         const std::function<void(std::istream&)>& body);
EBB_API void with_stream(const char* data, std::size_t size, const std::function<void(std::istream&)>& body);
}  // namespace detail

/// Collects tensors and other archives under names, and writes them as one safetensors file in which nested
/// names are joined by dots (torch::serialize::OutputArchive).
class EBB_API OutputArchive {
 public:
  void write(const std::string& key, const Variable& tensor, bool is_buffer = false);
  void write(const std::string& key, const OutputArchive& nested);
  /// Writes a scalar as a 0-d tensor, a list of scalars as a vector, and a string as a vector of bytes
  /// (torch: an IValue).
  void write(const std::string& key, const autograd::SavedValue& value);
  void save_to(const std::string& path) const;
  void save_to(std::ostream& stream) const;
  void save_to(const WriteFunction& write) const;
  const std::vector<std::pair<std::string, Variable>>& tensors() const { return tensors_; }

 private:
  std::vector<std::pair<std::string, Variable>> tensors_;
};

/// Reads the tensors of a file by name (torch::serialize::InputArchive).
class EBB_API InputArchive {
 public:
  InputArchive() = default;
  /// Wraps tensors that are in memory already.
  explicit InputArchive(std::vector<std::pair<std::string, Variable>> tensors) {
    take(std::move(tensors), {});
  }

  /// Loads a file. With a device, all tensors read from the archive are on that device.
  void load_from(const std::string& path, optional<Device> device = nullopt);
  void load_from(std::istream& stream, optional<Device> device = nullopt);
  /// Loads a file from a memory buffer, or through functions.
  void load_from(const char* data, std::size_t size, optional<Device> device = nullopt);
  void load_from(const ReadFunction& read, const SizeFunction& size, optional<Device> device = nullopt);
  /// Reads the tensor named `key` into `tensor`. The result is on the device that was passed to load_from.
  /// Without such a device, it is on the device of the old value of `tensor`. If no tensor has this name,
  /// throws and lists the most similar names.
  void read(const std::string& key, Variable& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, Variable& tensor, bool is_buffer = false);
  /// Reads the nested archive that was written as `key`.
  void read(const std::string& key, InputArchive& nested);
  bool try_read(const std::string& key, InputArchive& nested);
  /// Reads a value that write(key, SavedValue) wrote. If `key` names any other tensor, `value` is that
  /// tensor.
  void read(const std::string& key, autograd::SavedValue& value);
  bool try_read(const std::string& key, autograd::SavedValue& value);
  /// Returns the names at this level.
  std::vector<std::string> keys() const;
  const std::vector<std::pair<std::string, Variable>>& tensors() const { return tensors_; }
  /// Returns the names and dtypes of tensors whose dtype ebb does not have. Reading one of them is an error.
  const std::map<std::string, std::string>& unsupported() const { return unsupported_; }

 private:
  using Tensors = std::vector<std::pair<std::string, Variable>>;
  void take(Tensors tensors, std::map<std::string, std::string> unsupported);
  std::vector<std::size_t>::const_iterator first_not_before(const std::string& name) const;

  optional<Device> device_;
  Tensors tensors_;
  std::vector<std::size_t> by_name_;  // indices of the tensors, sorted by name
  std::map<std::string, std::string> unsupported_;
};

/// A type that saves itself to an archive and loads itself from one.
template <class T>
concept Archived = requires(const T& from, T& to, OutputArchive& out, InputArchive& in) {
  from.save(out);
  to.load(in);
};

}  // namespace ebb::serialize
