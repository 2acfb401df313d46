// Numbers that are drawn in blocks are those that are drawn one by one, and leave the generator where those
// do.
#include <ebb/ebb.h>

#include "support/catch.h"

namespace {

using ebb::Tensor;

// The same draw into a dense tensor, in blocks, and into one with gaps, by elements; after `before` words.
template <class Draw>
void check_draw(std::int64_t n, ebb::DType type, int before, Draw draw) {
  const Tensor dense = ebb::empty({n}, type), wide = ebb::zeros({n, 3}, type), sparse = wide.select(1, 1);
  std::uint32_t next[2];
  for (const Tensor& out : {dense, sparse}) {
    ebb::manual_seed(7);
    for (int i = 0; i < before; ++i) ebb::default_generator().random32();
    draw(out);
    next[out.is_same(sparse)] = ebb::default_generator().random32();
  }
  INFO(n << " of " << type << " after " << before);
  CHECK(ebb::equal(dense, sparse));
  CHECK(next[0] == next[1]);
}

}  // namespace

TEST_CASE("uniform numbers and coins are the same in blocks and one by one") {
  for (const std::int64_t n : {1, 15, 16, 511, 512, 513, 1300})
    for (const int before : {0, 1, 620, 623})
      for (const ebb::DType type : {ebb::kFloat, ebb::kDouble, ebb::kHalf, ebb::kBFloat16}) {
        check_draw(n, type, before, [](const Tensor& out) { out.uniform_(-2, 3); });
        for (const double p : {0.0, 0.3, 0.5, 1.0})
          check_draw(n, type, before, [p](const Tensor& out) { out.bernoulli_(p); });
      }
  for (const ebb::DType type : {ebb::kBool, ebb::kByte, ebb::kLong})
    check_draw(700, type, 1, [](const Tensor& out) { out.bernoulli_(0.25); });
}

TEST_CASE("coins fall as often as they should and dropout scales what it keeps") {
  ebb::manual_seed(3);
  const Tensor coins = ebb::empty({100000}).bernoulli_(0.3);
  CHECK(std::abs(coins.mean().item<double>() - 0.3) < 0.01);
  CHECK(ebb::equal(coins, coins.gt(0).to(ebb::kFloat)));
  const Tensor kept = ebb::dropout(ebb::ones({1000}), 0.75, true);
  CHECK(ebb::equal(kept, kept.gt(0).to(ebb::kFloat) * 4));
}

TEST_CASE("normal numbers do not depend on how many blocks are drawn with them") {
  for (const ebb::DType type : {ebb::kFloat, ebb::kDouble, ebb::kBFloat16}) {
    ebb::manual_seed(11);
    const Tensor all = ebb::randn({160}, type);
    for (const std::int64_t n : {16, 32, 48, 80, 144}) {
      ebb::manual_seed(11);
      CHECK(ebb::equal(ebb::randn({n}, type), all.narrow(0, 0, n)));
    }
  }
}
