// Work that is split across threads: the same bits on one thread, two and three.
#include "optable/checks.h"
#include "optable/samples.h"
#include "support/catch.h"

namespace optable {
namespace {

// Kernels split work of 32768 cheap elements and more.
const Stretch kBeyondOnePiece = {{30011, 10007, 3001, 1009, 301, 101, 41}, 70'000, 140'000};

void compare(const Row& row) {
  const variable_list inputs = to(make_inputs(row, 0), row.dtype_reason.empty() ? ebb::kF32 : ebb::kF64);
  const ThreadsGuard guard;
  ebb::set_num_threads(1);
  const variable_list alone = results(row, inputs);
  for (const int threads : {2, 3}) {
    INFO(threads << " threads");
    ebb::set_num_threads(threads);
    require_same_bits(results(row, inputs), alone);
  }
}

}  // namespace

void check_threads(const Row& row) {
  if (row.pointwise_inputs > 0) return;  // check_large does
  // Decompositions of so many elements take a minute, and convolutions and shapes, whose operands grow
  // together, gigabytes.
  for (const char* family : {"decomposition", "conv", "shape"})
    if (row.family == family) return;
  for (const Row& big : stretched_rows(row, kBeyondOnePiece)) {
    INFO(row.name << " on several threads; the first input is " << ebb::IntArrayRef(big.shape_sets[0][0]));
    compare(big);
  }
  for (const std::vector<Sizes>& shapes : row.large_shapes) {
    Row large = row;
    large.shape_sets = {shapes};
    INFO(row.name << " on several threads; the first input is " << ebb::IntArrayRef(shapes[0]));
    compare(large);
  }
}

}  // namespace optable
