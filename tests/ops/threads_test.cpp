// Results do not depend on the number of threads.
#include "check.h"

#include <cstring>

using namespace op_tests;

TEST_CASE("elementwise ops on large arrays give the same for one and three threads") {
  const Variable x = (ramp({301, 1001}).sin() * 3).to(ebb::kFloat), row = ramp({1001}).sin().to(ebb::kFloat);
  const auto run = [&](int threads) {
    const int before = ebb::get_num_threads();
    ebb::set_num_threads(threads);
    std::vector<Variable> out = {
        ebb::exp(x),  x * row,    x.t() + 1, ebb::tanh(x.t()), ebb::where(x > 0, x, 0),
        ebb::gelu(x), ebb::sin(x)};
    ebb::set_num_threads(before);
    return out;
  };
  const std::vector<Variable> one = run(1), two = run(3);
  for (std::size_t i = 0; i < one.size(); ++i) {
    const Variable a = one[i].contiguous(), b = two[i].contiguous();
    CHECK(std::memcmp(a.data_ptr(), b.data_ptr(), a.nbytes()) == 0);
  }
}
