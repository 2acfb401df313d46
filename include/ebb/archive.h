// Named tensors on their way to a file or from one.
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

/// Takes the next bytes of what is saved, and returns how many it took: all, or it is an error.
using WriteFunction = std::function<std::size_t(const void* data, std::size_t size)>;
/// Copies at most `size` bytes from a position on, and returns how many; none at the end.
using ReadFunction = std::function<std::size_t(std::uint64_t position, void* to, std::size_t size)>;
/// How many bytes there are.
using SizeFunction = std::function<std::size_t()>;

namespace detail {
/// Calls `body` with a stream that writes by the function, or reads by the functions, which are asked for all
/// bytes first.
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
  /// A number as a tensor of no dimensions, a list of numbers as one of one, a text as one of bytes (torch:
  /// an IValue).
  void write(const std::string& key, const autograd::SavedValue& value);
  void save_to(const std::string& path) const;
  void save_to(std::ostream& stream) const;
  void save_to(const WriteFunction& write) const;
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
  /// A file that lies in memory, and one that functions read.
  void load_from(const char* data, std::size_t size, optional<Device> device = nullopt);
  void load_from(const ReadFunction& read, const SizeFunction& size, optional<Device> device = nullopt);
  /// Puts the tensor of that name into `tensor`: on the device that load_from was given, else on that of what
  /// `tensor` holds. Throws with the nearest names if there is none.
  void read(const std::string& key, Variable& tensor, bool is_buffer = false);
  bool try_read(const std::string& key, Variable& tensor, bool is_buffer = false);
  /// The archive written under that name.
  void read(const std::string& key, InputArchive& nested);
  bool try_read(const std::string& key, InputArchive& nested);
  /// What such a tensor stands for; any other as it is.
  void read(const std::string& key, autograd::SavedValue& value);
  bool try_read(const std::string& key, autograd::SavedValue& value);
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

/// What writes itself into an archive and reads itself back.
template <class T>
concept Archived = requires(const T& from, T& to, OutputArchive& out, InputArchive& in) {
  from.save(out);
  to.load(in);
};

}  // namespace ebb::serialize
