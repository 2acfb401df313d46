// Prints whether a device (Device::CUDA, or the named one) can be used and, if not, the error of using it.
#include <ebb/ebb.h>

#include <cstdio>

int main(int argc, char** argv) {
  const ebb::Device device = argc > 1 ? ebb::Device(argv[1]) : ebb::Device(ebb::Device::CUDA);
  std::printf("%zu devices, ", ebb::cuda::device_count());
  try {
    ebb::ones({2}).to(device).sum().item();
    std::printf("%s\n", ebb::cuda::is_available() ? "available" : "works, but is not available");
  } catch (const ebb::Error& error) {
    std::printf("%s: %s\n", ebb::cuda::is_available() ? "available" : "none", error.what());
  }
}
