// libFuzzer entry point for one of the targets EBB_FUZZ_TARGETS, which EBB_FUZZ_TARGET names. With "--seeds
// FOLDER" it writes the seeds to the folder and exits:
//   fuzz_safetensors --seeds corpus && fuzz_safetensors corpus -max_total_time=300
#include "fuzz/targets.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace {

const fuzz::Target& target() {
  for (const fuzz::Target& t : fuzz::EBB_FUZZ_TARGETS)
    if (std::strcmp(t.name, EBB_FUZZ_TARGET) == 0) return t;
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::strcmp((*argv)[1], "--seeds") != 0) return 0;
  const std::filesystem::path folder = (*argv)[2];
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string& seed : target().seeds())
    std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  target().read(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
