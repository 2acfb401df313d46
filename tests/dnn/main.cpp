// Skips every case, with a count in CTest's summary, where there is no cuDNN or it refuses to work without a
// device.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "dnn/described_device.h"

#include <iostream>
#include <string_view>

int main(int argc, char** argv) {
  const bool lists = argc > 1 && std::string_view(argv[1]).starts_with("--list");
  if (!lists && !ebb::cuda::dnn::find_library()) {
    std::cout << "skipped: there is no cuDNN\n";
    return 77;
  }
  try {
    if (!lists) ebb::cuda::dnn::described_device();
  } catch (const ebb::cuda::dnn::Failure& f) {
    std::cout << "skipped: " << f.what() << '\n';
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
