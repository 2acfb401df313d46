// Skips every case, with a count in CTest's summary, where there is no device.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <ebb/core/random.h>
#include <ebb/cuda/cuda.h>

#include <iostream>
#include <string_view>

namespace {

// The same numbers in every run, whichever cases are chosen.
struct Seed : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo&) override { ebb::manual_seed(2026); }
};
CATCH_REGISTER_LISTENER(Seed)

}  // namespace

int main(int argc, char** argv) {
  const bool lists = argc > 1 && std::string_view(argv[1]).starts_with("--list");
  if (!lists && !ebb::cuda::is_available()) {
    std::cout << "skipped: there is no CUDA device\n";
    return 77;
  }
  return Catch::Session().run(argc, argv);
}
