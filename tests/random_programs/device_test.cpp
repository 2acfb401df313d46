// Random programs give equal results on a device and on the CPU, within error bounds.
#include <ebb/cuda/cuda.h>

#include "random_programs/bounds.h"
#include "random_programs/generate.h"
#include "support/catch.h"

#include <iostream>

using namespace programs;

TEST_CASE("random programs give equal results on a device and on the CPU") {
  if (!ebb::cuda::is_available()) {
    std::cout << "rows skipped: there is no CUDA device\n";
    return;
  }
  constexpr std::uint64_t kFirst = 51261127, kCount = 400;
  std::int64_t decided = 0;
  for (std::uint64_t seed = kFirst; seed < kFirst + kCount; ++seed) {
    Draw draw(seed);
    const Program program = generate_for_device(draw);
    if (wrong_on_device(program, &decided).empty()) continue;
    const Program small = shrink(program, [](const Program& p) { return !wrong_on_device(p).empty(); });
    FAIL_CHECK("seed " << seed << ": " << wrong_on_device(small) << "\n" << source(small, Language::cpp));
  }
  CHECK(decided > static_cast<std::int64_t>(kCount) * 3 / 4);
}
