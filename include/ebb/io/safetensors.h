// Reading and writing safetensors files (https://github.com/huggingface/safetensors, format version 0.x): a
// JSON header that names each tensor, its dtype, shape and bytes, and then the bytes.
#pragma once

#include <ebb/autograd/variable.h>

#include <iosfwd>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ebb::safetensors {

using NamedTensors = std::vector<std::pair<std::string, Variable>>;
using Metadata = std::map<std::string, std::string>;
/// Names of tensors with dtypes that ebb does not have, as the file spells them: {"scale", "F8_E4M3"}.
using Unsupported = std::map<std::string, std::string>;

/// The contents of a file, in the order of the data.
struct EBB_API File {
  File() = default;
  File(NamedTensors tensors, Metadata metadata, Unsupported unsupported = {});

  NamedTensors tensors;
  Metadata metadata;        ///< the header's "__metadata__"
  Unsupported unsupported;  ///< what the file holds and `tensors` cannot
  /// The tensor of that name. Throws with the nearest names if there is none, and with what to do about its
  /// dtype if ebb does not have it.
  const Variable& at(const std::string& name) const;

 private:
  std::unordered_map<std::string, std::size_t> index_;
};

/// A file that is read tensor by tensor (Python's safetensors.safe_open). The header is read and checked
/// once; threads may read tensors at once.
///     safetensors::Reader file("model.safetensors");
///     for (const std::string& name : file.keys())
///       if (name.starts_with("encoder.")) use(file.get_tensor(name));
///
/// Errors, all ebb::Error: a file that is not sound, with where: truncated, a header larger than 100 MB or
/// the file, JSON that does not parse or names a tensor twice, a dtype that the format does not have, a shape
/// that overflows, offsets that overlap, leave gaps, or do not match the shape; a file of another format
/// (PyTorch's .pt and .pth, the index of a sharded checkpoint, ...), with how to convert it. A file that is
/// cut short later is an error of the read that meets its end.
class EBB_API Reader {
 public:
  /// Opens a regular file.
  explicit Reader(const std::string& path);
  /// Reads a stream to its end, and keeps its bytes.
  explicit Reader(std::istream& stream);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// The names, in the order of the data.
  std::vector<std::string> keys() const;
  bool contains(const std::string& name) const;
  /// The shape of a tensor, and its dtype as the file spells it ("F32").
  std::vector<std::int64_t> sizes(const std::string& name) const;
  std::string dtype(const std::string& name) const;
  /// Whether ebb has the dtype of that tensor.
  bool is_supported(const std::string& name) const;
  const Metadata& metadata() const;

  /// The tensor of that name, in memory of its own. Throws as File::at does.
  Variable get_tensor(const std::string& name) const;
  /// Reads into a tensor of the same shape, whose dtype and device stay; in place when it is contiguous, of
  /// the file's dtype and on the CPU, so that nothing is held twice. Unlike copy_ it is never recorded.
  void read_into(const std::string& name, Variable& tensor) const;
  /// All of it.
  File read() const;

 private:
  friend EBB_API File parse(const void* bytes, std::size_t size);
  struct Contents;
  explicit Reader(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

/// Reads a whole file, each tensor into memory of its own. Errors are Reader's; tensors of a dtype that ebb
/// does not have are left out and listed in File::unsupported.
EBB_API File read(const std::string& path);

/// The same from bytes in memory, which are copied. For fuzzing and for embedded files.
EBB_API File parse(const void* bytes, std::size_t size);

/// The same from a stream, which is read to its end.
EBB_API File read(std::istream& stream);

/// Writes the tensors, contiguous and in order, so that a crash at any moment leaves either the old file or
/// the new one: a temporary file beside it, fsync, rename, fsync of the directory. Names must be distinct.
/// Tensors on other devices are copied to the CPU, one at a time. A symbolic link stays and what it leads to
/// is replaced; a replaced file keeps its permissions. What is no regular file (a device, a pipe) is refused:
/// write to it as a stream. A temporary file that a killed process left is removed by the next write to the
/// same path.
EBB_API void write(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});
/// The same bytes to a stream. Throws when the stream does not take them.
EBB_API void write(std::ostream& stream, const NamedTensors& tensors, const Metadata& metadata = {});

}  // namespace ebb::safetensors
