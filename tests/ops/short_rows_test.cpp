// Products of vectors and matrices of few columns, whose rows are read several at a time.
#include <ebb/ebb.h>

#include <cmath>
#include <limits>

#include "support/catch.h"

using ebb::Variable;

namespace {

// Rows of whole numbers, so that every order of summing gives the same.
Variable numbers(std::int64_t rows, std::int64_t columns, ebb::ScalarType dtype) {
  return ebb::arange(rows * columns, ebb::kLong).mul(7).remainder(23).sub(11).view({rows, columns}).to(dtype);
}

Variable by_sums(const Variable& a, const Variable& x) { return a.contiguous().mul(x).sum(1); }

// Every count of rows about the sides of squares, at the very end of a matrix's memory.
void check_products(ebb::ScalarType dtype) {
  for (std::int64_t columns = 1; columns <= 20; ++columns) {
    const Variable x = numbers(1, columns, dtype).view({columns});
    for (const std::int64_t rows : {1, 2, 7, 8, 9, 15, 16, 17, 40, 301}) {
      INFO(rows << " x " << columns);
      const Variable a = numbers(rows, columns, dtype), y = numbers(1, rows, dtype).view({rows});
      const Variable expected = by_sums(a, x);
      CHECK(ebb::equal(a.mv(x), expected));
      CHECK(ebb::equal(ebb::addmv(y, a, x, 3, -2), y * 3 - expected * 2));
    }
  }
}

// Rows are columns of a wider matrix that holds nothing but NaN otherwise.
void check_spaced(ebb::ScalarType dtype) {
  for (const std::int64_t columns : {1, 2, 3, 5, 8, 11, 15}) {
    INFO(columns << " columns");
    const Variable all = ebb::full({50, columns + 3}, std::numeric_limits<double>::quiet_NaN(), dtype);
    const Variable a = all.narrow(1, 3, columns), x = numbers(1, columns, dtype).view({columns});
    a.copy_(numbers(50, columns, dtype));
    CHECK(ebb::equal(a.mv(x), by_sums(a, x)));
  }
}

// An infinite row leaves its neighbours alone.
void check_infinite(ebb::ScalarType dtype) {
  for (const std::int64_t columns : {1, 2, 3, 7, 9, 14}) {
    const Variable a = numbers(80, columns, dtype).clone(),
                   x = numbers(1, columns, dtype).view({columns}) - 20;
    const Variable expected = by_sums(a, x);
    for (const std::int64_t row : {0, 17, 40, 79}) {
      INFO("row " << row << " of " << columns << " columns");
      const Variable b = a.clone();
      b.select(0, row).fill_(std::numeric_limits<double>::infinity());
      const Variable y = b.mv(x);
      CHECK(y.isfinite().sum().item<std::int64_t>() == 79);
      CHECK_FALSE(std::isfinite(y.select(0, row).item<double>()));
      CHECK(
          ebb::equal(y.index_fill(0, ebb::tensor({row}), 0), expected.index_fill(0, ebb::tensor({row}), 0)));
    }
  }
}

}  // namespace

TEST_CASE("matrices of few columns times vectors") {
  check_products(ebb::kFloat);
  check_products(ebb::kDouble);
}

TEST_CASE("few columns of a wider matrix times vectors") {
  check_spaced(ebb::kFloat);
  check_spaced(ebb::kDouble);
}

TEST_CASE("an infinite row of a few columns stays alone in a product") {
  check_infinite(ebb::kFloat);
  check_infinite(ebb::kDouble);
}
