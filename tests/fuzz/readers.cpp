// Readers of ebb, called on bytes as a fuzzer gives them.
#include <ebb/ebb.h>

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/targets.h"

namespace fuzz {
namespace {

// Touches every byte, and holds the array to its promise that it has that many.
void look_at(const ebb::Tensor& x) {
  const ebb::Tensor y = x.clone();
  EBB_CHECK(y.nbytes() == x.nbytes() && y.sizes() == x.sizes(), "clone changed the shape.");
}

// A file without a name on any disk.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(::memfd_create("fuzz", 0)) {
    if (descriptor_ < 0) throw std::runtime_error("memfd_create failed");
    if (::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("cannot write to a file in memory");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

template <class F>
bool accepted(F&& f) {
  try {
    f();
    return true;
  } catch (const ebb::Error&) {
    return false;
  }
}

}  // namespace

bool read_safetensors(std::string_view bytes) {
  ebb::safetensors::File file;
  if (!accepted([&] { file = ebb::safetensors::parse(bytes.data(), bytes.size()); })) return false;
  for (const auto& [name, tensor] : file.tensors) look_at(tensor);
  return true;
}

bool read_idx(std::string_view bytes) {
  const MemoryFile file(bytes);
  ebb::Tensor read;
  if (!accepted([&] { read = ebb::data::read_idx(file.path()); })) return false;
  look_at(read);
  return true;
}

bool read_gzipped_idx(std::string_view bytes) { return read_idx(gzip(bytes)); }

}  // namespace fuzz
