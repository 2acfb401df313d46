// Which GPUs a plugin has kernels for.
#include "cuda/architectures.h"

#include <catch2/catch.hpp>

using ebb::cuda::has_kernels_for;

TEST_CASE("which GPUs a plugin has kernels for") {
  CHECK(has_kernels_for("90-real", 9, 0));
  CHECK_FALSE(has_kernels_for("90-real", 8, 6));
  CHECK_FALSE(has_kernels_for("90-real", 10, 0));
  CHECK(has_kernels_for("80-real", 8, 6));
  CHECK_FALSE(has_kernels_for("86-real", 8, 0));
  CHECK(has_kernels_for("80-real;90", 12, 0));  // by PTX
  CHECK(has_kernels_for("75-virtual", 9, 0));
  CHECK_FALSE(has_kernels_for("75-virtual", 7, 0));
  CHECK(has_kernels_for("90a", 9, 0));
  CHECK_FALSE(has_kernels_for("90a", 10, 0));
  CHECK(has_kernels_for("100f-real", 10, 3));
  CHECK_FALSE(has_kernels_for("100f-real", 12, 0));
  CHECK(has_kernels_for("native", 8, 9));
  CHECK_FALSE(has_kernels_for("", 9, 0));
}
