// Says whether Device::CUDA can be used and, if not, what asking for it says.
#include <ebb/ebb.h>

#include <cstdio>

int main() {
  std::printf("%zu devices, ", ebb::cuda::device_count());
  try {
    ebb::ones({2}).to(ebb::Device::CUDA).sum().item();
    std::printf("%s\n", ebb::cuda::is_available() ? "available" : "works, but is not available");
  } catch (const ebb::Error& error) {
    std::printf("%s: %s\n", ebb::cuda::is_available() ? "available" : "none", error.what());
  }
}
