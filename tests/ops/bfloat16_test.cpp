// Convolutions in bfloat16: what comes out is the float convolution of the same numbers, rounded once.
#include <ebb/core/deterministic.h>
#include <ebb/core/parallel.h>
#include <ebb/ebb.h>

#include <vector>

#include "support/catch.h"

using namespace ebb;

namespace {

struct Case {
  std::int64_t batch, in, out, size, kernel, stride, padding, groups = 1;
};

// Channels that fill registers or not, odd ones, rows of odd and even width, strides, groups, and images that
// are cut into blocks.
const Case kCases[] = {{2, 64, 64, 12, 3, 1, 1},    {2, 33, 48, 10, 3, 1, 1},  {1, 65, 96, 7, 1, 1, 0},
                       {2, 24, 64, 13, 3, 2, 1},    {1, 16, 80, 9, 5, 3, 2},   {2, 64, 64, 8, 3, 1, 1, 2},
                       {1, 64, 32, 34, 1, 1, 0},    {1, 32, 32, 600, 1, 1, 0}, {3, 3, 16, 20, 3, 1, 1},
                       {2, 16, 16, 8, 3, 1, 1, 16}, {2, 48, 32, 4, 4, 1, 0}};

Tensor numbers(IntArrayRef sizes) { return randn(sizes).to(kBFloat16); }

// The result and the gradients of input and weight.
std::vector<Tensor> convolution(const Case& c, DType dtype) {
  manual_seed(5);
  const std::int64_t height = c.size > 100 ? 1 : c.size;
  const Tensor x = numbers({c.batch, c.in, height, c.size}).to(dtype).requires_grad_();
  const Tensor w = numbers({c.out, c.in / c.groups, c.kernel, c.kernel}).to(dtype).requires_grad_();
  const Tensor y = conv2d(x, w, numbers({c.out}).to(dtype), c.stride, c.padding, 1, c.groups);
  y.backward(numbers(y.sizes()).to(dtype));
  return {y.detach(), x.grad(), w.grad()};
}

}  // namespace

TEST_CASE("convolutions of bfloat16 are those of float rounded once") {
  for (const Case& c : kCases) {
    CAPTURE(c.batch, c.in, c.out, c.size, c.kernel, c.stride, c.groups);
    const std::vector<Tensor> exact = convolution(c, kDouble), rounded = convolution(c, kBFloat16);
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(i);
      // Rounded to 8 bits, of a sum in floats: k additions, here at most 2^11, each wrong by 2^-24 of what
      // was summed up, at most about the largest result times 2.
      const Tensor off = (rounded[i].to(kDouble) - exact[i]).abs();
      const Tensor bound = exact[i].abs() * 0x1p-8 + exact[i].abs().max() * 0x1p-12;
      CHECK((off <= bound).all().item<bool>());
    }
  }
}

TEST_CASE("deterministic convolutions of bfloat16 have the bits of float's") {
  use_deterministic_algorithms(true);
  for (const Case& c : kCases) {
    CAPTURE(c.batch, c.in, c.out, c.size, c.kernel, c.stride, c.groups);
    const std::vector<Tensor> wide = convolution(c, kFloat), rounded = convolution(c, kBFloat16);
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(i);
      CHECK(rounded[i].equal(wide[i].to(kBFloat16)));
    }
  }
  use_deterministic_algorithms(false);
}

TEST_CASE("convolutions of bfloat16 do not depend on the number of threads") {
  const int threads = get_num_threads();
  for (const Case& c : kCases) {
    CAPTURE(c.batch, c.in, c.out, c.size, c.kernel, c.stride, c.groups);
    set_num_threads(1);
    const std::vector<Tensor> one = convolution(c, kBFloat16);
    set_num_threads(3);
    const std::vector<Tensor> three = convolution(c, kBFloat16);
    set_num_threads(threads);
    for (std::size_t i = 0; i < 3; ++i) CHECK(three[i].equal(one[i]));
  }
}

TEST_CASE("recurrent layers in bfloat16 are near those of float") {
  for (const bool projects : {false, true}) {
    CAPTURE(projects);
    const auto run = [&](DType dtype) {
      manual_seed(5);
      nn::LSTM layer(nn::LSTMOptions(33, 70).proj_size(projects ? 21 : 0).bidirectional(true));
      const Tensor x = numbers({6, 5, 33}).to(dtype).requires_grad_(),
                   g = numbers({6, 5, projects ? 42 : 140});
      layer->to(kBFloat16);
      layer->to(dtype);
      const Tensor y = std::get<0>(layer->forward(x));
      y.backward(g.to(dtype));
      std::vector<Tensor> found = {y.detach(), x.grad()};
      for (const Tensor& p : layer->parameters()) found.push_back(p.grad());
      return found;
    };
    const std::vector<Tensor> wide = run(kFloat), rounded = run(kBFloat16);
    for (std::size_t i = 0; i < wide.size(); ++i) {
      CAPTURE(i);
      // Each of six steps rounds its state by at most 2^-8, and hands that on.
      const Tensor off = (rounded[i].to(kFloat) - wide[i]).abs();
      CHECK(off.max().item<float>() <= 6 * 0x1p-8f * wide[i].abs().max().item<float>());
    }
  }
}

TEST_CASE("16-bit numbers are turned around by squares and what is left over") {
  for (const auto& [rows, columns] :
       {std::pair<std::int64_t, std::int64_t>{9, 8}, {64, 64}, {70, 131}, {8, 17}})
    for (const DType dtype : {kBFloat16, kHalf, kShort}) {
      CAPTURE(rows, columns, dtype);
      const Tensor wide = arange(rows * columns).view({rows, columns}).fmod(199);
      const Tensor turned = wide.to(dtype).t().contiguous();
      CHECK(turned.is_contiguous());
      CHECK(turned.equal(wide.t().contiguous().to(dtype)));
    }
}
