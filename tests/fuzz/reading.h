// Helpers that call readers with bytes and judge the outcome.
#pragma once

#include <ebb/ebb.h>

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace fuzz {

// Reads every byte, so that a too small buffer is detected.
inline void look_at(const ebb::Tensor& x) {
  const ebb::Tensor y = x.clone();
  EBB_CHECK(y.nbytes() == x.nbytes() && y.sizes() == x.sizes(), "clone changed the shape.");
}

// A file in memory.
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

}  // namespace fuzz
