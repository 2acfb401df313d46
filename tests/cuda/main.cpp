// Skips every case, with a count in CTest's summary, where there is no device.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <ebb/cuda/cuda.h>

#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
  const bool lists = argc > 1 && std::string_view(argv[1]).starts_with("--list");
  if (!lists && !ebb::cuda::is_available()) {
    std::cout << "skipped: there is no CUDA device\n";
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
