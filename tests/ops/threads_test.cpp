// Results do not depend on the number of threads.
#include "check.h"

#include <cstring>

using namespace op_tests;

namespace {

// Runs f on one thread and on three, and compares bit by bit.
template <class F>
void check_threads(const F& f) {
  const auto run = [&](int threads) {
    const int before = ebb::get_num_threads();
    ebb::set_num_threads(threads);
    const std::vector<Variable> out = f();
    ebb::set_num_threads(before);
    return out;
  };
  const std::vector<Variable> one = run(1), three = run(3);
  for (std::size_t i = 0; i < one.size(); ++i) {
    INFO("result " << i);
    const Variable a = one[i].contiguous(), b = three[i].contiguous();
    CHECK(std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
  }
}

}  // namespace

TEST_CASE("elementwise ops on large arrays give the same for one and three threads") {
  const Variable x = (ramp({301, 1001}).sin() * 3).to(ebb::kFloat), row = ramp({1001}).sin().to(ebb::kFloat);
  check_threads([&] {
    return std::vector<Variable>{
        ebb::exp(x),  x * row,    x.t() + 1, ebb::tanh(x.t()), ebb::where(x > 0, x, 0),
        ebb::gelu(x), ebb::sin(x)};
  });
}

TEST_CASE("convolutions and their gradients give the same for one and three threads") {
  struct Layer {
    std::int64_t batch, in, out, size, kernel, stride;
  };
  for (const Layer& l : {Layer{5, 64, 64, 23, 3, 1}, Layer{3, 70, 96, 14, 3, 2}, Layer{2, 130, 40, 30, 1, 1},
                         Layer{9, 3, 64, 37, 7, 2}, Layer{7, 96, 130, 7, 3, 1}}) {
    INFO(l.in << " to " << l.out << " channels");
    const Variable x = ramp({l.batch, l.in, l.size, l.size}).sin().to(ebb::kFloat).requires_grad_();
    const Variable w = ramp({l.out, l.in, l.kernel, l.kernel}).sin().to(ebb::kFloat).requires_grad_();
    check_threads([&] {
      const Variable y = ebb::conv2d(x, w, {}, l.stride, l.kernel / 2);
      auto out = ebb::autograd::grad({y}, {x, w}, {y.detach().sin()});
      out.push_back(y.detach());
      return out;
    });
  }
}
