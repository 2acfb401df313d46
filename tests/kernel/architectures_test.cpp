// has_kernels_for: the GPUs for which a plugin has kernels.
#include "cuda/architectures.h"

#include "support/catch.h"

#include <utility>

using ebb::cuda::has_kernels_for;

TEST_CASE("has_kernels_for tells which GPUs a list of architectures supports") {
  CHECK(has_kernels_for("90-real", 9, 0));
  CHECK_FALSE(has_kernels_for("90-real", 8, 6));
  CHECK_FALSE(has_kernels_for("90-real", 10, 0));
  CHECK(has_kernels_for("80-real", 8, 6));
  CHECK_FALSE(has_kernels_for("86-real", 8, 0));
  CHECK(has_kernels_for("80-real;90", 12, 0));  // through PTX
  CHECK(has_kernels_for("75-virtual", 9, 0));
  CHECK_FALSE(has_kernels_for("75-virtual", 7, 0));
  CHECK(has_kernels_for("90a", 9, 0));
  CHECK_FALSE(has_kernels_for("90a", 10, 0));
  CHECK(has_kernels_for("100f-real", 10, 3));
  CHECK_FALSE(has_kernels_for("100f-real", 12, 0));
  CHECK(has_kernels_for("100f", 10, 3));
  CHECK_FALSE(has_kernels_for("103f", 10, 0));
  CHECK_FALSE(has_kernels_for("100f", 12, 0));  // its PTX is also specific to the family
  CHECK_FALSE(has_kernels_for("100f-virtual", 11, 0));
  CHECK_FALSE(has_kernels_for("90a-virtual", 10, 0));
  CHECK(has_kernels_for("native", 8, 9));
  CHECK_FALSE(has_kernels_for("", 9, 0));
}

TEST_CASE("the architectures of releases support all GPUs from 8.0") {
  constexpr char kRelease[] = "80-real,86-real,89-real,90-real,100-real,120";
  for (const auto& [major, minor] :
       {std::pair{8, 0}, {8, 6}, {8, 9}, {9, 0}, {10, 0}, {10, 3}, {12, 0}, {12, 1}, {13, 0}})
    CHECK(has_kernels_for(kRelease, major, minor));
  CHECK_FALSE(has_kernels_for(kRelease, 7, 5));
}
