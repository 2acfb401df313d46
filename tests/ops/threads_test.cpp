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

TEST_CASE(
    "every row that is added to a place is added once, with any threads and wherever their shares end") {
  for (const auto& [places, row] :
       {std::pair(512, 32), std::pair(500, 33), std::pair(64, 100), std::pair(3, 400), std::pair(512, 8)}) {
    INFO(places << " places, rows of " << row);
    const std::int64_t count = (std::int64_t{1} << 21) / row;
    const Variable index = ebb::remainder(ebb::arange(count, ebb::kLong) * 7 + 1, places);
    const Variable rows = ebb::remainder(ebb::arange(count * row, ebb::kDouble), 13).view({count, row});
    Values expected(static_cast<std::size_t>(places * row));
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t k = 0; k < row; ++k)
        expected[static_cast<std::size_t>((7 * j + 1) % places * row + k)] +=
            static_cast<double>((j * row + k) % 13);
    const Variable zeros = ebb::zeros({places, row}, ebb::kDouble);
    for (const int threads : {1, 2, 7, 16}) {
      const int before = ebb::get_num_threads();
      ebb::set_num_threads(threads);
      const Variable added = zeros.index_add(0, index, rows), put = zeros.index_put({index}, rows, true);
      const Variable scattered = zeros.scatter_add(0, index.unsqueeze(1).expand_as(rows), rows);
      const Variable most = zeros.index_reduce(0, index, rows, "amax");
      ebb::set_num_threads(before);
      CHECK(values(added) == expected);
      CHECK(values(put) == expected);
      CHECK(values(scattered) == expected);
      CHECK(most.max().item<double>() == 12);
    }
  }
}
