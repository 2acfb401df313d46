// The arguments at which functions are measured: dense near zeros, poles, kinks, branch points, subnormal
// numbers and overflow.
#include <ebb/core/dtype.h>

#include "accuracy/measure.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace accuracy {
namespace {

struct Range {
  double epsilon, least, most;
  int least_exponent, most_exponent;  // powers of ten
};

Range range_of(ebb::DType dtype) {
  switch (dtype) {
    case ebb::kF64:
      return {0x1p-52, 0x1p-1074, std::numeric_limits<double>::max(), -323, 308};
    case ebb::kF32:
      return {0x1p-23, 0x1p-149, std::numeric_limits<float>::max(), -45, 38};
    case ebb::kHalf:
      return {0x1p-10, 0x1p-24, 65504, -7, 4};
    default:
      return {0x1p-7, 0x1p-133, 0x1.fep127, -40, 38};
  }
}

class Points {
 public:
  explicit Points(const Range& range) : range_(range) {}

  void near(double centre) {
    for (const double steps : {0.0, 1.0, 3.0, 40.0, 1000.0})
      for (const double side : {-1.0, 1.0}) both(centre * (1 + side * steps * range_.epsilon));
    for (int k = 1; k <= 6; ++k)
      for (const double side : {-1.0, 1.0}) both(centre + side * std::pow(10.0, -k));
  }
  void magnitudes() {
    for (const double x : {1.0, 2.0, 1000.0}) both(x * range_.least);
    for (const double x : {1.0, 0.999, 0.5, 0.25}) both(x * range_.most);
    std::uniform_real_distribution<double> exponent(range_.least_exponent, range_.most_exponent);
    for (int i = 0; i < 80; ++i) both(std::pow(10.0, exponent(engine_)));
    std::uniform_real_distribution<double> middle(-6, 3);
    for (int i = 0; i < 60; ++i) both(std::pow(10.0, middle(engine_)));
  }
  void uniform(double low, double high) {
    std::uniform_real_distribution<double> x(low, high);
    for (int i = 0; i < 60; ++i) all_.insert(x(engine_));
  }
  void both(double x) { all_.insert(x), all_.insert(-x); }

  /// Returns the non-zero numbers that are finite in the dtype: each `every`-th in order, and the ends.
  std::vector<double> in(ebb::DType dtype, std::size_t every) const {
    std::vector<double> given(all_.begin(), all_.end());
    const ebb::Variable rounded = ebb::tensor(given, ebb::kF64).to(dtype).to(ebb::kF64);
    std::set<double> kept;
    for (std::int64_t i = 0; i < rounded.numel(); ++i) {
      const double x = rounded.data_ptr<double>()[i];
      if (std::isfinite(x) && x != 0) kept.insert(x);
    }
    std::vector<double> out;
    std::size_t i = 0;
    for (const double x : kept) {
      if (i % every == 0 || i + 1 == kept.size()) out.push_back(x);
      ++i;
    }
    return out;
  }

 private:
  Range range_;
  std::mt19937_64 engine_{33};
  std::set<double> all_;
};

}  // namespace

std::vector<std::vector<double>> points_of(const optable::Row& row, ebb::DType dtype, Extent extent) {
  const bool pairs = row.pointwise_inputs == 2, whole = extent == Extent::whole;
  Points points(range_of(dtype));
  points.magnitudes();
  points.uniform(-12, 12);
  for (std::size_t i = 0; i < row.ranges.size(); ++i)
    points.uniform(row.ranges[i].first, row.ranges[i].second);
  for (const double kink : row.kink_values) points.near(kink);
  for (int k = 1; k < 12; ++k) points.near(k), points.near(k - 0.5), points.near(k * M_PI / 2);
  // At these values, e^x, 2^x, gamma(x) and Bessel functions overflow or underflow, and series end.
  for (const double x :
       {20.0,  33.3,   36.7,   38.6,     87.33,  88.7, 103.9, 127.0, 149.0, 170.6, 308.0, 709.7,  713.9,
        745.1, 1023.0, 1074.0, 2.55e305, 3.9e37, 1e8,  1e4,   16.0,  64.0,  0.1,   0.044, 0.7071, 1.4142})
    points.near(x);
  // Arb needs milliseconds for these functions.
  const bool slow = row.name.find("igamma") != row.name.npos || row.name.find("zeta") != row.name.npos;
  const std::vector<double> single = points.in(dtype, (whole ? 1 : 11) * (slow && !pairs ? 10 : 1));
  if (!pairs) return {single};
  std::vector<std::vector<double>> out(2);
  std::mt19937_64 engine(34);
  if (row.name.find("polynomial") != row.name.npos) {
    for (const double degree : {-0.5, 0.0, 1.0, 2.0, 3.0, 6.0, 13.0, 31.0})
      for (const double x : single) out[0].push_back(x), out[1].push_back(degree);
    return out;
  }
  // Random pairs, also of equal numbers.
  const auto any = [&] { return single[engine() % single.size()]; };
  for (int i = 0; i < (whole ? 1000 : 300) / (slow ? 12 : 1); ++i) {
    const double a = any();
    out[0].push_back(a);
    switch (i % 4) {
      case 0:
        out[1].push_back(a * (i % 8 < 4 ? 1 + 1e-3 * static_cast<double>(engine() % 1000) : -1));
        break;
      default:
        out[1].push_back(any());
    }
  }
  for (auto& column : out) {
    const ebb::Variable rounded = ebb::tensor(column, ebb::kF64).to(dtype).to(ebb::kF64);
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = rounded.data_ptr<double>()[i];
  }
  return out;
}

}  // namespace accuracy
