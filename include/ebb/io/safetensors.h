// safetensors files (https://github.com/huggingface/safetensors, format version 0.x): a JSON header with the
// name, dtype, shape and byte range of each tensor, followed by the bytes.
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
/// Names of tensors with dtypes that ebb does not have. The values are the dtypes as written in the file:
/// {"scale", "F8_E4M3"}.
using Unsupported = std::map<std::string, std::string>;

/// The contents of a file, in the order of the data.
struct EBB_API File {
  File() = default;
  File(NamedTensors tensors, Metadata metadata, Unsupported unsupported = {});

  NamedTensors tensors;
  Metadata metadata;        ///< the header's "__metadata__"
  Unsupported unsupported;  ///< tensors of the file that ebb cannot represent
  /// Returns the tensor with that name. If there is none, throws and lists the most similar names. If ebb
  /// does not have the tensor's dtype, throws with advice on conversion.
  const Variable& at(const std::string& name) const;

 private:
  std::unordered_map<std::string, std::size_t> index_;
};

/// Reads a file tensor by tensor (Python's safetensors.safe_open). The header is read and checked once.
/// Several threads may read tensors at the same time.
///     safetensors::Reader file("model.safetensors");
///     for (const std::string& name : file.keys())
///       if (name.starts_with("encoder.")) use(file.get_tensor(name));
///
/// Throws ebb::Error with the position for a corrupt file:
/// - a file that is truncated, or a header larger than 100 MB or than the file;
/// - invalid JSON, a tensor named twice, or an unknown dtype;
/// - a shape that overflows, or offsets that overlap, leave gaps or do not match the shape.
/// For a file of another format (PyTorch's .pt and .pth, the index of a sharded checkpoint, ...), throws with
/// advice on conversion. If a file is truncated after it was opened, a read beyond its end throws.
class EBB_API Reader {
 public:
  /// Opens a regular file.
  explicit Reader(const std::string& path);
  /// Reads a stream to its end and stores its bytes.
  explicit Reader(std::istream& stream);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  /// Returns the names, in the order of the data.
  std::vector<std::string> keys() const;
  bool contains(const std::string& name) const;
  /// Return the shape of a tensor, and its dtype as written in the file ("F32").
  std::vector<std::int64_t> sizes(const std::string& name) const;
  std::string dtype(const std::string& name) const;
  /// Returns whether ebb has the dtype of the tensor.
  bool is_supported(const std::string& name) const;
  const Metadata& metadata() const;

  /// Returns the tensor with that name in newly allocated memory. Throws like File::at.
  Variable get_tensor(const std::string& name) const;
  /// Reads into a tensor of the same shape, whose dtype and device do not change. If it is contiguous, has
  /// the file's dtype and is on the CPU, the data is read in place without a second buffer. In contrast to
  /// copy_, the read is never recorded.
  void read_into(const std::string& name, Variable& tensor) const;
  /// Reads all tensors.
  File read() const;

 private:
  friend EBB_API File parse(const void* bytes, std::size_t size);
  struct Contents;
  explicit Reader(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

/// Reads a whole file, each tensor into newly allocated memory. Throws the errors of Reader. Tensors of a
/// dtype that ebb does not have are left out and listed in File::unsupported.
EBB_API File read(const std::string& path);

/// Reads a file from bytes in memory, for example an embedded file. The bytes are copied.
EBB_API File parse(const void* bytes, std::size_t size);

/// Reads a file from a stream, to its end.
EBB_API File read(std::istream& stream);

/// Writes the tensors, contiguous and in order. A crash at any moment leaves either the old file or the new
/// one: the function writes a temporary file in the same folder, then calls fsync, rename, and fsync of the
/// folder. Names must be distinct. Tensors on other devices are copied to the CPU one at a time. A symbolic
/// link is kept and its target is replaced; a replaced file keeps its permissions. A path that is not a
/// regular file (a device, a pipe) is an error: write to it as a stream. If a process is killed, its
/// temporary file remains; the next write to the same path removes it.
EBB_API void write(const std::string& path, const NamedTensors& tensors, const Metadata& metadata = {});
/// Writes the bytes of the file to a stream. Throws if writing fails.
EBB_API void write(std::ostream& stream, const NamedTensors& tensors, const Metadata& metadata = {});

}  // namespace ebb::safetensors
