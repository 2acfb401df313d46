// Sums of many numbers of 16 bits: they are made in wider numbers and rounded once.
#include "check.h"

#include <functional>

using namespace op_tests;
using namespace ebb;

namespace {

constexpr std::int64_t kMany = 4096;  // a sum of ones sticks at 2,048 in f16, at 256 in bf16

struct Sum {
  const char* name;
  std::function<Variable(DType)> run;  // a sum of kMany ones is its first element
};

Variable same_place(std::int64_t place = 0) { return full({kMany}, place, kLong); }
Variable many_ones(DType dtype) { return ones({kMany}, dtype); }

// The gradient of x, of zeros, where that of what `use` makes of it is ones.
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
     [](DType d) {
       return zeros({2, 3}, d).index_add(1, same_place(), ones({2, kMany}, d)).select(1, 0);
     }},
    {"index_add at places far apart",
     [](DType d) {
       const Variable places = cat({same_place(), full({1}, 99999, kLong)});
       return zeros({100000}, d).index_add(0, places, ones({kMany + 1}, d));
     }},
    {"index_put",
     [](DType d) { return zeros({3}, d).index_put({same_place()}, many_ones(d), /*accumulate=*/true); }},
    {"put", [](DType d) { return zeros({3}, d).put(same_place(), many_ones(d), /*accumulate=*/true); }},
    {"the gradient of index",
     [](DType d) {
       return gradient({3, 2}, d, [](const Variable& x) { return x.index({same_place()}); });
     }},
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
                       [](const Variable& x) {
                         return im2col(x, {64, 64}, {1, 1}, {0, 0}, {1, 1});
                       })
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

TEST_CASE("a sum of many ones of 16 bits is their number") {
  for (const DType dtype : {kHalf, kBFloat16})
    for (const Sum& sum : kSums) {
      INFO(sum.name << " in " << dtype);
      CHECK(sum.run(dtype).flatten()[0].item<double>() == kMany);
    }
}

TEST_CASE("sums of 16 bits are rounded once, whatever stands in between") {
  // Beside 2048 a one is lost in f16, but 2048 + 1 + 1 + 1 + 1 - 2048 is 4.
  const Variable values = tensor({2048.0, 1.0, 1.0, 1.0, 1.0, -2048.0}).to(kHalf);
  const Variable places = zeros({6}, kLong);
  CHECK(zeros({2}, kHalf).scatter_add(0, places, values)[0].item<double>() == 4);
  CHECK(zeros({2}, kHalf).index_add(0, places, values)[0].item<double>() == 4);
  CHECK(zeros({2}, kHalf).index_put({places}, values, true)[0].item<double>() == 4);
  // And sums may leave the range of f16 on their way.
  const Variable large = tensor({60000.0, 60000.0, -60000.0}).to(kHalf), here = zeros({3}, kLong);
  CHECK(zeros({2}, kHalf).scatter_add(0, here, large)[0].item<double>() == 60000);
  CHECK(zeros({2}, kHalf).index_add(0, here, large)[0].item<double>() == 60000);
}

TEST_CASE("products and means of many numbers of 16 bits") {
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

TEST_CASE("gradients of an embedding by frequency count more rows than 16 bits can") {
  for (const DType dtype : {kHalf, kBFloat16}) {
    const Variable table = ones({2, 3}, TensorOptions(dtype).requires_grad(true));
    const Variable rows = embedding(table, full({1025}, 1, kLong), -1, /*scale_grad_by_freq=*/true);
    rows.backward(ones_like(rows));
    CHECK(table.grad()[1][0].item<double>() == 1);
  }
}
