// Sums and convolutions of 16-bit values: they accumulate in a wider dtype and round once.
#include <ebb/core/deterministic.h>
#include <ebb/core/parallel.h>
#include <ebb/ebb.h>

#include "check.h"
#include "support/catch.h"

#include <functional>
#include <vector>

// Sums of many 16-bit values, which accumulate in a wider dtype and round once.

using namespace op_tests;
using namespace ebb;

namespace {

constexpr std::int64_t kMany = 4096;  // a 16-bit sum of ones stops at 2,048 in f16 and at 256 in bf16

struct Sum {
  const char* name;
  std::function<Variable(DType)> run;  // the first element of the result is a sum of kMany ones
};

Variable same_place(std::int64_t place = 0) { return full({kMany}, place, kLong); }
Variable many_ones(DType dtype) { return ones({kMany}, dtype); }

// Returns the gradient of x = 0 for the result use(x), with an incoming gradient of ones.
Variable gradient(IntArrayRef sizes, DType dtype, const std::function<Variable(const Variable&)>& use) {
  const Variable x = zeros(sizes, TensorOptions(dtype).requires_grad(true));
  const Variable y = use(x);
  y.backward(ones_like(y));
  return x.grad().flatten();
}

const Sum kSums[] = {
    {"scatter_add", [](DType d) { return zeros({3}, d).scatter_add(0, same_place(), many_ones(d)); }},
    {"scatter_add along the first of two dimensions",
     [](DType d) {
       const Variable sums =
           zeros({2, 40}, d).scatter_add(0, zeros({kMany, 40}, kLong), ones({kMany, 40}, d));
       return sums.select(0, 0);
     }},
    {"scatter with reduce",
     [](DType d) { return zeros({3}, d).scatter(0, same_place(), many_ones(d), "add"); }},
    {"scatter_reduce sum",
     [](DType d) { return zeros({3}, d).scatter_reduce(0, same_place(), many_ones(d), "sum"); }},
    {"index_add of numbers", [](DType d) { return zeros({3}, d).index_add(0, same_place(), many_ones(d)); }},
    {"index_add of long rows",
     [](DType d) {
       return zeros({3, 600}, d).index_add(0, same_place(), ones({kMany, 600}, d)).select(0, 0);
     }},
    {"index_add of columns",
     [](DType d) { return zeros({2, 3}, d).index_add(1, same_place(), ones({2, kMany}, d)).select(1, 0); }},
    {"index_add at places far apart",
     [](DType d) {
       const Variable places = cat({same_place(), full({1}, 99999, kLong)});
       return zeros({100000}, d).index_add(0, places, ones({kMany + 1}, d));
     }},
    {"index_put",
     [](DType d) { return zeros({3}, d).index_put({same_place()}, many_ones(d), /*accumulate=*/true); }},
    {"put", [](DType d) { return zeros({3}, d).put(same_place(), many_ones(d), /*accumulate=*/true); }},
    {"the gradient of index",
     [](DType d) { return gradient({3, 2}, d, [](const Variable& x) { return x.index({same_place()}); }); }},
    {"the gradient of gather",
     [](DType d) { return gradient({3}, d, [](const Variable& x) { return x.gather(0, same_place()); }); }},
    {"the gradient of take",
     [](DType d) { return gradient({3}, d, [](const Variable& x) { return x.take(same_place()); }); }},
    {"the gradient of take_along_dim",
     [](DType d) {
       return gradient({3}, d, [](const Variable& x) { return x.take_along_dim(same_place(), 0); });
     }},
    {"the gradient of index_select",
     [](DType d) {
       return gradient({3, 9}, d, [](const Variable& x) { return x.index_select(0, same_place()); });
     }},
    {"the gradient of repeat_interleave",
     [](DType d) {
       return gradient({2}, d, [](const Variable& x) { return x.repeat_interleave(kMany, 0); });
     }},
    {"the gradient of repeat",
     [](DType d) { return gradient({1}, d, [](const Variable& x) { return x.repeat({kMany}); }); }},
    {"the gradient of embedding",
     [](DType d) {
       return gradient({3, 2}, d, [](const Variable& x) { return embedding(x, same_place()); });
     }},
    {"the gradient of as_strided",
     [](DType d) {
       return gradient({2}, d, [](const Variable& x) { return x.as_strided({kMany, 2}, {0, 1}); });
     }},
    {"the gradient of overlapping windows",
     [](DType d) {
       return gradient({2 * kMany}, d, [](const Variable& x) { return x.unfold(0, kMany, 1); })
           .narrow(0, kMany - 1, 1);
     }},
    {"the gradient of im2col",
     [](DType d) {
       return gradient({1, 1, 127, 127}, d,
                       [](const Variable& x) { return im2col(x, {64, 64}, {1, 1}, {0, 0}, {1, 1}); })
           .view({127, 127})[63]
           .narrow(0, 63, 1);
     }},
    {"col2im",
     [](DType d) {
       const Variable columns = ones({1, kMany, kMany}, d);
       return col2im(columns, {127, 127}, {64, 64}, {1, 1}, {0, 0}, {1, 1})
           .view({127, 127})[63]
           .narrow(0, 63, 1);
     }},
    {"the gradient of replication padding",
     [](DType d) {
       return gradient({1, 1}, d, [](const Variable& x) { return replication_pad1d(x, {kMany - 1, 0}); });
     }},
    {"the gradient of max_pool1d",
     [](DType d) {
       return gradient({1, 2 * kMany}, d,
                       [](const Variable& x) {
                         return max_pool1d(x.slice(1, 0, 2 * kMany - 1) +
                                               eq(arange(2 * kMany - 1), kMany - 1).to(x.dtype()),
                                           kMany, 1);
                       })
           .narrow(0, kMany - 1, 1);
     }},
    {"the gradient of adaptive_max_pool1d",
     [](DType d) {
       return gradient({1, 2}, d,
                       [](const Variable& x) {
                         return std::get<0>(adaptive_max_pool1d(x + tensor({1.0, 0.0}).to(x.dtype()), kMany));
                       })
           .mul(2);
     }},
};

}  // namespace

TEST_CASE("sums of very many 16-bit elements of value 1 equal the number of elements") {
  for (const DType dtype : {kHalf, kBFloat16})
    for (const Sum& sum : kSums) {
      INFO(sum.name << " in " << dtype);
      CHECK(sum.run(dtype).flatten()[0].item<double>() == kMany);
    }
}

TEST_CASE("16-bit sums are accumulated in higher precision and rounded once") {
  // In f16, 2048 + 1 rounds to 2048, but the exact 2048 + 1 + 1 + 1 + 1 - 2048 is 4.
  const Variable values = tensor({2048.0, 1.0, 1.0, 1.0, 1.0, -2048.0}).to(kHalf);
  const Variable places = zeros({6}, kLong);
  CHECK(zeros({2}, kHalf).scatter_add(0, places, values)[0].item<double>() == 4);
  CHECK(zeros({2}, kHalf).index_add(0, places, values)[0].item<double>() == 4);
  CHECK(zeros({2}, kHalf).index_put({places}, values, true)[0].item<double>() == 4);
  // Partial sums may exceed the range of f16.
  const Variable large = tensor({60000.0, 60000.0, -60000.0}).to(kHalf), here = zeros({3}, kLong);
  CHECK(zeros({2}, kHalf).scatter_add(0, here, large)[0].item<double>() == 60000);
  CHECK(zeros({2}, kHalf).index_add(0, here, large)[0].item<double>() == 60000);
}

TEST_CASE("scatter_reduce accumulates 16-bit products and means in higher precision") {
  const Variable here = zeros({3}, kLong);
  const Variable factors = tensor({300.0, 300.0, 0.01}).to(kHalf);
  const double product = 300.0 * 300.0 * factors[2].item<double>();
  CHECK(ones({2}, kHalf).scatter_reduce(0, here, factors, "prod")[0].item<double>() ==
        tensor(product).to(kHalf).item<double>());
  for (const DType dtype : {kHalf, kBFloat16}) {
    INFO(dtype);
    const Variable x = full({kMany}, 100, dtype).set_requires_grad(true);
    const Variable mean =
        zeros({2}, dtype).scatter_reduce(0, same_place(), x, "mean", /*include_self=*/false);
    CHECK(mean[0].item<double>() == 100);
    mean[0].backward();
    CHECK(x.grad()[kMany - 1].item<double>() == 1.0 / kMany);
    const Variable lengths = tensor({kMany}).to(kLong);
    CHECK(segment_reduce(full({kMany}, 100, dtype), "mean", lengths)[0].item<double>() == 100);
    CHECK(zeros({2}, dtype)
              .index_reduce(0, same_place(), full({kMany}, 100, dtype), "mean", false)[0]
              .item<double>() == 100);
  }
}

TEST_CASE("scale_grad_by_freq counts more rows than a 16-bit dtype can represent") {
  for (const DType dtype : {kHalf, kBFloat16}) {
    const Variable table = ones({2, 3}, TensorOptions(dtype).requires_grad(true));
    const Variable rows = embedding(table, full({1025}, 1, kLong), -1, /*scale_grad_by_freq=*/true);
    rows.backward(ones_like(rows));
    CHECK(table.grad()[1][0].item<double>() == 1);
  }
}

// Convolutions in bfloat16: the result is the float convolution of the same values, rounded once.

namespace {

struct Case {
  std::int64_t batch, in, out, size, kernel, stride, padding, groups = 1;
};

// The numbers of channels fill registers or leave a remainder; rows have odd and even widths; there are
// strides, groups and images that are split into blocks.
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

TEST_CASE("bfloat16 convolutions are as accurate as float convolutions rounded once") {
  for (const Case& c : kCases) {
    CAPTURE(c.batch, c.in, c.out, c.size, c.kernel, c.stride, c.groups);
    const std::vector<Tensor> exact = convolution(c, kDouble), rounded = convolution(c, kBFloat16);
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(i);
      // The bound covers the rounding to 8 bits and the float sum of k terms (here k <= 2^11): each addition
      // has an error of 2^-24 of the partial sum, which is at most about twice the largest result.
      const Tensor off = (rounded[i].to(kDouble) - exact[i]).abs();
      const Tensor bound = exact[i].abs() * 0x1p-8 + exact[i].abs().max() * 0x1p-12;
      CHECK((off <= bound).all().item<bool>());
    }
  }
}

TEST_CASE("deterministic bfloat16 convolutions are bitwise equal to float convolutions") {
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

TEST_CASE("bfloat16 convolutions do not depend on the number of threads") {
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

TEST_CASE("recurrent layers in bfloat16 are close to those in float") {
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
      // Each of the six steps rounds its state by at most 2^-8, and the error propagates.
      const Tensor off = (rounded[i].to(kFloat) - wide[i]).abs();
      CHECK(off.max().item<float>() <= 6 * 0x1p-8f * wide[i].abs().max().item<float>());
    }
  }
}

TEST_CASE("transposed copies of 16-bit tensors are right in full tiles and in the remainder") {
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
