// clone, to, copy_ and fill_: values in every dtype and layout, gradients, errors.
#include <ebb/ebb.h>

#include "support/catch.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace ebb;

namespace {

const std::vector<DType> kAllTypes = {kByte, kChar,  kShort,  kInt,  kLong,
                                      kHalf, kFloat, kDouble, kBool, kBFloat16};

std::vector<double> values(const Variable& x) {
  const Variable flat = x.detach().to(kFloat64).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

std::vector<std::int64_t> strides(const Variable& x) { return x.strides().vec(); }

}  // namespace

TEST_CASE("to() converts every dtype to every other dtype") {
  for (DType from : kAllTypes)
    for (DType to : kAllTypes) {
      INFO(to_string(from) << " to " << to_string(to));
      for (std::int64_t n : {1, 7, 100}) {
        const Variable whole = arange(n).to(from);
        const bool either_bool = from == kBool || to == kBool;
        std::vector<double> expected;
        for (std::int64_t i = 0; i < n; ++i)
          expected.push_back(either_bool ? i != 0 : static_cast<double>(i));
        const Variable converted = whole.to(to);
        CHECK(converted.dtype() == to);
        CHECK(values(converted) == expected);
        // The strided loops must agree.
        const Variable spread = zeros({n, 2}, from);
        spread.select(1, 1).copy_(whole);
        CHECK(values(spread.select(1, 1).to(to)) == expected);
        CHECK(values(whole.expand({2, n}).to(to).select(0, 1)) == expected);
      }
    }
}

TEST_CASE("dtype conversions truncate, wrap and round as in torch") {
  const Variable x = tensor({-1.7, 0.0, 2.9, 300.2}, kFloat64);
  CHECK(values(x.to(kInt64)) == std::vector<double>{-1, 0, 2, 300});
  CHECK(values(x.to(kBool)) == std::vector<double>{1, 0, 1, 1});
  CHECK(values(x.to(kUInt8)) == std::vector<double>{255, 0, 2, 44});
  CHECK(values(x.to(kInt8)) == std::vector<double>{-1, 0, 2, 44});
  CHECK(values(tensor({300, -1}).to(kInt8)) == std::vector<double>{44, -1});
  CHECK(values(tensor({std::nan(""), 0.5}, kFloat64).to(kBool)) == std::vector<double>{1, 1});
  CHECK(values(tensor({2049.0, 65520.0}).to(kHalf)) == std::vector<double>{2048, INFINITY});
  CHECK(values(tensor({257.0, 259.0}).to(kBFloat16)) == std::vector<double>{256, 260});
  CHECK(values(tensor({1e300}, kFloat64).to(kFloat32)) == std::vector<double>{INFINITY});
}

TEST_CASE("values out of range of an integer dtype convert to the same integer at every position") {
  // The tensor is long enough for SIMD instructions, and several dtypes cover their widths.
  for (const DType from : {kFloat64, kFloat32, kHalf}) {
    Variable x = full({40}, INFINITY, from);
    x.select(0, 1).fill_(-INFINITY);
    x.select(0, 2).fill_(NAN);
    x.select(0, 3).fill_(-5.5);
    const auto expect = [&](DType to, double smallest) {
      std::vector<double> y(40, smallest);
      y[3] = to == kUInt8 ? 251 : -5;
      INFO(to_string(from) << " to " << to_string(to));
      CHECK(values(x.to(to)) == y);
    };
    expect(kInt64, -0x1p63);
    expect(kInt32, -0x1p31);
    expect(kInt16, 0);
    expect(kInt8, 0);
    expect(kUInt8, 0);
  }
  CHECK(values(tensor({0x1p31, -0x1p31, 0x1p31 - 1}, kFloat64).to(kInt32)) ==
        std::vector<double>{-0x1p31, -0x1p31, 0x1p31 - 1});
}

TEST_CASE("copy_ between all pairs of layouts copies small and large tensors") {
  for (std::int64_t n : {3, 37, 150}) {
    for (DType dtype : {kFloat, kDouble, kByte, kHalf}) {
      INFO(n << ' ' << to_string(dtype));
      const Variable x = arange(n * 4 * n).remainder(251).to(dtype).view({n, 4, n});
      const Variable expected = x.to(kFloat64);
      for (const std::vector<std::int64_t>& order :
           {std::vector<std::int64_t>{2, 1, 0}, {1, 2, 0}, {0, 2, 1}, {2, 0, 1}}) {
        const Variable turned = x.permute(order);
        const Variable straight = turned.contiguous();
        CHECK(straight.is_contiguous());
        const Variable d = turned.to(kFloat64).contiguous();
        const double* got = d.data_ptr<double>();
        bool same = true;
        std::int64_t at = 0;
        const auto from = turned.strides();
        const double* base = expected.data_ptr<double>();
        for (std::int64_t i = 0; i < turned.size(0); ++i)
          for (std::int64_t j = 0; j < turned.size(1); ++j)
            for (std::int64_t k = 0; k < turned.size(2); ++k, ++at)
              same &= got[at] == base[i * from[0] + j * from[1] + k * from[2]];
        CHECK(same);
        CHECK(values(straight) == values(d));
        // The copy back into a view with gaps must agree.
        const Variable wide = zeros({turned.size(0), turned.size(1), 2 * turned.size(2)}, dtype);
        wide.slice(2, 1, nullopt, 2).copy_(turned);
        CHECK(values(wide.slice(2, 1, nullopt, 2)) == values(d));
        CHECK(values(wide.slice(2, 0, nullopt, 2)) == std::vector<double>(d.numel(), 0.0));
      }
    }
  }
}

TEST_CASE("copy_ copies rows of a few KiB at every alignment") {
  const DType dtype = GENERATE(kByte, kHalf, kFloat, kDouble);
  const auto from = GENERATE(as<std::int64_t>{}, 0, 1, 7);
  INFO(to_string(dtype) << " from " << from);
  const Variable x = arange(3 * 5000).remainder(251).to(dtype).view({3, 5000});
  const std::vector<double> all = values(x);
  const auto expect = [&](const Variable& got, std::int64_t first, std::int64_t count) {
    std::vector<double> expected;
    for (std::int64_t row = 0; row < 3; ++row)
      for (std::int64_t i = 0; i < count; ++i)
        expected.push_back(all[static_cast<std::size_t>(row * 5000 + (first + i) % 5000)]);
    CHECK(values(got) == expected);
  };
  for (const std::int64_t count : {300, 1100, 4093}) {
    const Variable part = x.narrow(1, from, count);
    expect(part.contiguous(), from, count);
    expect(cat({part, part.narrow(1, 0, 0)}, 1), from, count);
    const Variable target = zeros({3, 5000}, dtype);
    target.narrow(1, 5, count).copy_(part);
    expect(target.narrow(1, 5, count), from, count);
    CHECK(values(target.narrow(1, 5 + count, 9)) == std::vector<double>(27, 0.0));
  }
  expect(x.roll(-from, 1), from, 5000);
}

TEST_CASE("transposed copies of every element size preserve all bits") {
  for (const DType dtype : kAllTypes)
    for (const std::int64_t rows : {7, 16, 33, 64, 150})
      for (const std::int64_t columns : {8, 17, 65, 128}) {
        INFO(to_string(dtype) << ", " << rows << " by " << columns);
        const Variable x = (arange(3 * rows * columns) % 251).to(dtype).reshape({3, rows, columns});
        const Variable turned = x.transpose(1, 2).contiguous();
        const std::vector<double> from = values(x), to = values(turned);
        bool same = turned.sizes() == IntArrayRef({3, columns, rows});
        for (std::int64_t b = 0; same && b < 3; ++b)
          for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
              same = same && to[(b * columns + j) * rows + i] == from[(b * rows + i) * columns + j];
        CHECK(same);
      }
  // Copies preserve all bits, even if they would be NaN in a floating dtype of the same size.
  const Variable odd = full({40, 40}, -4194303, kInt);
  CHECK(odd.t().contiguous().equal(odd));
}

TEST_CASE("clone() and to() preserve the strides of dense tensors and make other tensors dense") {
  const Variable x = arange(24).to(kFloat32).view({2, 3, 4});
  CHECK(strides(x.transpose(0, 2).clone()) == strides(x.transpose(0, 2)));
  CHECK(strides(x.transpose(0, 2).to(kFloat64)) == strides(x.transpose(0, 2)));
  CHECK(strides(x.transpose(0, 2).clone(MemoryFormat::Contiguous)) == std::vector<std::int64_t>{6, 2, 1});
  CHECK(strides(x.slice(2, 0, 2).clone()) == std::vector<std::int64_t>{6, 2, 1});
  CHECK(strides(x.slice(2, 0, 2).transpose(0, 1).clone()) == std::vector<std::int64_t>{2, 6, 1});
  CHECK(strides(tensor({{1.0}, {2.0}}).expand({2, 3}).clone()) == std::vector<std::int64_t>{3, 1});
  const Variable image = zeros({2, 3, 4, 5});
  const Variable last = image.contiguous(MemoryFormat::ChannelsLast);
  CHECK(strides(last) == std::vector<std::int64_t>{60, 1, 15, 3});
  CHECK(last.is_contiguous(MemoryFormat::ChannelsLast));
  CHECK(strides(last.clone()) == strides(last));
  CHECK(strides(last.contiguous()) == std::vector<std::int64_t>{60, 20, 5, 1});
  CHECK(strides(image.to(kFloat64, false, false, MemoryFormat::ChannelsLast)) == strides(last));
  CHECK(last.contiguous(MemoryFormat::ChannelsLast).is_same(last));
  CHECK_THROWS_WITH(image.contiguous(MemoryFormat::Preserve),
                    support::Contains("contiguous: MemoryFormat::Preserve names no order. Use"));
  CHECK_THROWS_WITH(x.contiguous(MemoryFormat::ChannelsLast),
                    support::Contains("MemoryFormat::ChannelsLast needs a tensor of 4"));
}

TEST_CASE("to() returns the same tensor if device and dtype are unchanged") {
  const Variable x = tensor({1.0, 2.0});
  CHECK(x.to(kFloat32).is_same(x));
  CHECK(x.to(kCPU).is_same(x));
  CHECK(x.to("cpu").is_same(x));
  CHECK(x.to(Device("cpu:0")).is_same(x));
  CHECK(TensorOptions().device("cuda:1").device() == Device(Device::CUDA, 1));
  for (const std::int64_t index : {-2, 128, 256})
    CHECK_THROWS_WITH(Device(Device::CUDA, index), support::Contains("Device: there is no device of index"));
  Device device(Device::CUDA);
  CHECK(std::hash<Device>()(device) != std::hash<Device>()(Device::CPU));
  device.set_index(3);
  CHECK(device.str() == "cuda:3");
  CHECK(x.to(TensorOptions()).is_same(x));
  CHECK(x.to(x).is_same(x));
  CHECK(x.cpu().is_same(x));
  CHECK(x.type_as(x).is_same(x));
  CHECK(x.contiguous().is_same(x));
  CHECK_FALSE(x.to(kFloat32, false, true).is_alias_of(x));
  CHECK(x.to(Device(kCPU), kInt32).dtype() == kInt);
  CHECK(x.to(tensor({1})).dtype() == kLong);
  CHECK(x.toType(kBool).dtype() == kBool);
  CHECK_THROWS_WITH(
      x.to(requires_grad()),
      support::Contains("to: the options set requires_grad, which is not supported. Call requires_grad_()"));
  CHECK_THROWS_WITH(x.to(TensorOptions(MemoryFormat::Contiguous), false, false, MemoryFormat::Contiguous),
                    support::Contains("to: the memory format is given twice, in the options and"));
}

TEST_CASE("gradients of clone(), to() and contiguous() have the dtype of the input") {
  const Variable x = tensor({{1.0, 2.0}, {3.0, 4.0}}, dtype(kFloat32).requires_grad(true));
  const Variable y = x.clone();
  CHECK(y.grad_fn()->name() == "CloneBackward0");
  const Variable z = y.to(kFloat64);
  CHECK(z.grad_fn()->name() == "ToCopyBackward0");
  z.t().contiguous().backward(tensor({{1.0, 2.0}, {3.0, 4.0}}, kFloat64));
  CHECK(x.grad().dtype() == kFloat);
  CHECK(values(x.grad()) == std::vector<double>{1, 3, 2, 4});
  CHECK_FALSE(x.to(kInt64).requires_grad());
  const NoGradGuard no_grad;
  CHECK_FALSE(x.clone().requires_grad());
}

TEST_CASE("copy_ broadcasts and converts and has gradients for source and destination") {
  const Variable x = ones({2, 3}, dtype(kFloat64).requires_grad(true));
  const Variable row = tensor({1.0, 2.0, 3.0}, dtype(kFloat32).requires_grad(true));
  const Variable y = x.clone();
  y.copy_(row);
  CHECK(y.grad_fn()->name() == "CopyBackwards");
  CHECK(values(y) == std::vector<double>{1, 2, 3, 1, 2, 3});
  y.backward(arange(6).to(kFloat64).view({2, 3}));
  CHECK(values(x.grad()) == std::vector<double>(6, 0.0));
  CHECK(row.grad().dtype() == kFloat);
  CHECK(values(row.grad()) == std::vector<double>{3, 5, 7});
}

TEST_CASE("assigning a tensor to an element records the assignment in the graph") {
  const Variable x = zeros({3}, kFloat64);
  const Variable y = tensor(2.0, dtype(kFloat64).requires_grad(true));
  x.select(0, 1) = y * y;
  CHECK(x.requires_grad());
  CHECK(values(x) == std::vector<double>{0, 4, 0});
  x.backward(tensor({5.0, 6.0, 7.0}, kFloat64));
  CHECK(values(y.grad()) == std::vector<double>{24});
  x.select(0, 0) = 3;
  CHECK(values(x) == std::vector<double>{3, 4, 0});
}

TEST_CASE("copy_ throws for shapes that do not broadcast, overlapping memory and leaves that require grad") {
  const Variable x = zeros({2, 3});
  CHECK_THROWS_WITH(x.copy_(zeros({2})),
                    support::Contains("copy_: the shapes [2, 3] and [2] do not broadcast: the"));
  CHECK_THROWS_WITH(x.copy_(zeros({4, 2, 3})),
                    support::Contains("copy_: a source of shape [4, 2, 3] does not broadcast to"));
  CHECK_THROWS_WITH(zeros({1, 3}).copy_(x),
                    support::Contains("copy_: a source of shape [2, 3] does not broadcast to the"));
  CHECK_THROWS_WITH(zeros({2}, requires_grad()).copy_(ones({2})),
                    support::Contains("copy_: a leaf Variable that requires grad is being used"));
  CHECK_THROWS_WITH(x.copy_(Variable()),
                    support::Contains("copy_: expected two tensors, got an undefined one. Assign"));
  CHECK_THROWS_WITH(zeros({1}).expand({3}).copy_(ones({3})),
                    support::Contains("copy_: more than one element of the written-to tensor"));
  const Variable line = arange(6);
  CHECK_THROWS_WITH(line.slice(0, 1).copy_(line.slice(0, 0, 5)),
                    support::Contains("copy_: source and destination overlap in memory (shapes"));
  // A copy to the same memory is allowed, and interleaved views do not overlap.
  line.copy_(line);
  line.slice(0, 0, nullopt, 2).copy_(line.slice(0, 1, nullopt, 2));
  CHECK(values(line) == std::vector<double>{1, 1, 3, 3, 5, 5});
  const Variable square = arange(9).view({3, 3});
  square.copy_(square.t().clone());
  CHECK(values(square) == std::vector<double>{0, 3, 6, 1, 4, 7, 2, 5, 8});
}

TEST_CASE("copy_ of a tensor to itself changes no value but is recorded") {
  const Variable leaf = arange(6).to(kFloat64).view({2, 3}).requires_grad_();
  const Variable x = leaf.clone();
  const auto version = x._version();
  x.copy_(x.detach());
  CHECK(x._version() == version + 1);
  CHECK(x.grad_fn()->name() == "CopyBackwards");
  CHECK(values(x) == values(leaf));
  x.backward(ones({2, 3}, kFloat64));
  CHECK(values(leaf.grad()) == std::vector<double>(6, 0.0));  // the source was detached

  const Variable line = arange(3);
  line.copy_(line.view({3})).copy_(line.view({1, 3}).select(0, 0)).copy_(line.slice(0, 0));
  CHECK(values(line) == std::vector<double>{0, 1, 2});
  line.view({1, 3}).copy_(line);  // by broadcasting
  line.slice(0, 0, nullopt, 2).copy_(line.slice(0, 0, nullopt, 2));
  const Variable square = arange(9).view({3, 3});
  square.t().copy_(square.t());
  square.copy_(square.t().t());
  CHECK(values(square.view({9})) == values(arange(9)));
  Variable part = square.select(0, 1);
  part = square.select(0, 1);  // assigns to the elements
  CHECK(values(square.view({9})) == values(arange(9)));

  // A copy between overlapping views with other positions throws.
  CHECK_THROWS_WITH(square.copy_(square.t()), support::Contains("overlap"));
  CHECK_THROWS_WITH(line.slice(0, 1).copy_(line.slice(0, 0, 2)), support::Contains("overlap"));
  CHECK_THROWS_WITH(
      leaf.copy_(leaf.detach()),
      support::Contains(
          "copy_: a leaf Variable that requires grad is being used"));  // a leaf that requires a gradient
}

TEST_CASE("fill_ and zero_ write every element and stop the gradient") {
  const Variable x = ones({2, 3}, dtype(kFloat64).requires_grad(true));
  const Variable y = x.clone();
  const auto version = y._version();
  y.fill_(2.5);
  CHECK(y._version() == version + 1);
  CHECK(values(y) == std::vector<double>(6, 2.5));
  CHECK(y.grad_fn()->name() == "FillBackward2");
  y.backward(ones({2, 3}, kFloat64));
  CHECK(values(x.grad()) == std::vector<double>(6, 0.0));

  const Variable v = tensor(3.0, dtype(kFloat64).requires_grad(true));
  const Variable z = zeros({4, 2}, kFloat64);
  z.t().select(0, 1).fill_(v);
  CHECK(values(z) == std::vector<double>{0, 3, 0, 3, 0, 3, 0, 3});
  z.backward(arange(8).to(kFloat64).view({4, 2}));
  CHECK(v.grad().item<double>() == 16);

  CHECK(values(full({3}, 7).zero_()) == std::vector<double>{0, 0, 0});
  CHECK(values(tensor({1, 2}).fill_(2.9)) == std::vector<double>{2, 2});
  CHECK(values(zeros({2}, kBool).fill_(5)) == std::vector<double>{1, 1});
  CHECK(values(zeros({2}, kUInt8).fill_(-1)) == std::vector<double>{255, 255});
  CHECK(values(fill(zeros({2}), 4)) == std::vector<double>{4, 4});
  CHECK(values(fill(zeros({2}), tensor(5))) == std::vector<double>{5, 5});
  CHECK_THROWS_WITH(zeros({2}, kUInt8).fill_(300),
                    support::Contains("fill_: the value 300 cannot be converted to Byte without"));
  CHECK_THROWS_WITH(zeros({2}, kInt32).fill_(std::numeric_limits<double>::infinity()),
                    support::Contains("fill_: the value inf cannot be converted to Int without"));
  CHECK_THROWS_WITH(zeros({2}).fill_(ones({2})),
                    support::Contains("fill_: only a 0-dimensional value tensor can fill, got 1"));
  CHECK_THROWS_WITH(zeros({2}, requires_grad()).fill_(1),
                    support::Contains("fill_: a leaf Variable that requires grad is being used"));
}

TEST_CASE("full accepts the bounds of an integer dtype and throws for values beyond them") {
  CHECK(full({1}, -0x1p63, kInt64).item<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(full({1}, -0x1p31, kInt32).item<int>() == std::numeric_limits<std::int32_t>::min());
  CHECK(full({1}, 255.9, kUInt8).item<int>() == 255);
  CHECK(full({1}, -1, kUInt8).item<int>() == 255);
  for (const double v : {0x1p63, -0x1.1p63, double{INFINITY}, double{NAN}})
    CHECK_THROWS_WITH(full({1}, v, kInt64), support::Contains("full: the value"));
  CHECK_THROWS_WITH(tensor({-1.5}, kUInt8), support::Contains("tensor: the value -1.5"));
  for (const double v : {256.0, -0.5, -256.0})
    CHECK_THROWS_WITH(full({1}, v, kUInt8), support::Contains("full: the value"));
}

TEST_CASE("results of large copies do not depend on the number of threads") {
  const int threads = get_num_threads();
  const Variable x = arange(3000 * 700).to(kFloat32).view({3000, 700});
  set_num_threads(1);
  const Variable one = x.t().contiguous(), low = x.to(kHalf), flat = x.clone();
  set_num_threads(4);
  const Variable many = x.t().contiguous(), high = x.to(kHalf), again = x.clone();
  set_num_threads(threads);
  CHECK(std::memcmp(one.data_ptr(), many.data_ptr(), one.nbytes()) == 0);
  CHECK(std::memcmp(low.data_ptr(), high.data_ptr(), low.nbytes()) == 0);
  CHECK(std::memcmp(flat.data_ptr(), again.data_ptr(), flat.nbytes()) == 0);
  CHECK(std::memcmp(flat.data_ptr(), x.data_ptr(), flat.nbytes()) == 0);
}

TEST_CASE("CUDA calls without the plugin throw an error that names the missing library") {
  CHECK(cuda::is_available() == (cuda::device_count() > 0));
  if (cuda::is_available()) return;
  CHECK(cuda::device_count() == 0);
  CHECK_THROWS_WITH(zeros({1}).to(kCUDA), support::Contains("libebb_cuda.so") || support::Contains("driver"));
  CHECK_THROWS_WITH(zeros({1}, kCUDA), support::Contains("Device::CUDA: "));
  CHECK_THROWS_WITH(zeros({1}).cuda(), support::Contains("Device::CUDA: "));
  CHECK_THROWS_WITH(cuda::synchronize(), support::Contains("Device::CUDA: "));
  cuda::manual_seed_all(1);
}
