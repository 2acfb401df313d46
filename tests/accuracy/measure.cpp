// Measures rows of the op table: the arguments, and the errors at them in units in the last place (ulp).
#include "accuracy/measure.h"

#include <ebb/core/dtype.h>
#include <ebb/ebb.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

namespace accuracy {

// The arguments at which functions are measured: dense near zeros, poles, kinks, branch points, subnormal
// numbers and overflow.

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

// Errors in units in the last place (ulp).

namespace {

using ebb::Variable;
using optable::variable_list;

struct Format {
  int digits, least_exponent, most_exponent;  // 2^most_exponent is the first power that overflows
};

Format format_of(ebb::DType dtype) {
  switch (dtype) {
    case ebb::kF64:
      return {53, -1074, 1024};
    case ebb::kF32:
      return {24, -149, 128};
    case ebb::kHalf:
      return {11, -24, 16};
    default:
      return {8, -133, 128};
  }
}

constexpr long kMostPrecision = 1 << 14;

/// Computes the jet of the function with enough precision to round each requested part.
Jet evaluate(const Exact& exact, double a, double b, int parts) {
  for (long bits = 128;; bits *= 2) {
    Ball::precision = bits;
    Jet jet = exact(Jet::argument(a, kByA), Jet::argument(b, kByB));
    const bool done = std::all_of(jet.part.begin(), jet.part.begin() + parts,
                                  [](const Ball& ball) { return ball.decided(); });
    const bool hopeless = bits >= 2048 && !jet.value().finite();
    if (done || hopeless || bits >= kMostPrecision) return jet;
  }
}

/// Returns the error of a number in ulp of the exact one. A number beyond the range counts as the first that
/// overflows.
double error_of(const Ball& exact, double got, const Format& format) {
  if (std::isnan(got)) return INFINITY;
  const double end = std::ldexp(1.0, format.most_exponent - 1);  // half of the first number that overflows
  long exponent = std::min<long>(exact.exponent(), format.most_exponent);
  const long ulp = std::max<long>(exponent - format.digits, format.least_exponent);
  const bool beyond = exact.exponent() > format.most_exponent;
  if (beyond && std::isinf(got)) return std::signbit(got) == exact.negative() ? 0 : INFINITY;
  if (beyond)
    return std::signbit(got) == exact.negative()
               ? std::ldexp(2 * (end - std::fabs(got) / 2), static_cast<int>(-ulp))
               : INFINITY;
  if (std::isinf(got)) {
    if (std::signbit(got) != exact.negative()) return INFINITY;
    const Ball limit = Ball(end) + Ball(end);
    return (limit - abs(exact)).distance(0, ulp);
  }
  return exact.distance(got, ulp);
}

/// Returns |x f'(x) / f(x)|, summed over the operands: the factor by which errors of the arguments grow.
double condition_of(const Jet& jet, const double at[2], Part part) {
  static constexpr Part kSlopes[kParts][2] = {{kByA, kByB}, {kByAA, kByAB}, {kByAB, kByBB}};
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    const Ball share = abs(Ball(at[i]) * jet.part[kSlopes[part][i]] / jet.part[part]);
    sum += share.finite() ? share.middle() : 0;
  }
  return std::clamp(sum, 1.0, 0x1p52);
}

/// Returns the same for a second derivative that changes its sign, at a zero or a pole, within a quarter of
/// the argument and within 2 of it; otherwise 1.
double condition_at_zero(const Exact& exact, const Jet& jet, const double at[2], Part part) {
  double sum = 0;
  for (int i = 0; i < 2; ++i) {
    const double size = std::fabs(at[i]), near = std::min(size / 4, 2.0), step = size * 0x1p-20;
    if (at[i] + near == at[i] && size > 4) return 0x1p52;  // numbers are farther apart than changes of sign
    const auto moved = [&](double by) {
      const double a = i == 0 ? at[0] + by : at[0], b = i == 1 ? at[1] + by : at[1];
      return evaluate(exact, a, b, part + 1).part[part];
    };
    bool turns = false;
    for (const double by : {near, -near, near / 2, -near / 2, near / 4, -near / 4})
      turns = turns || moved(by).negative() != jet.part[part].negative();
    if (!turns) continue;
    const double h = std::min(step, 0x1p-20 * near + size * 0x1p-45);
    const Ball change = abs((moved(h) - moved(-h)) * Ball(size) / (Ball(2 * h) * jet.part[part]));
    sum += change.finite() ? change.middle() : 0;
  }
  return std::clamp(sum, 1.0, 0x1p52);
}

using Parts = std::array<Variable, kParts>;

/// Returns the parts of a row: the value, its gradients, and their gradients. `recorded` tells whether
/// gradients are computed as a graph. Otherwise one kernel may compute them, and there are no second
/// derivatives.
Parts computed(const optable::Row& row, const variable_list& inputs, bool recorded) {
  Parts out;
  const Variable y = row.function(inputs)[0];
  out[kValue] = y.detach();
  variable_list leaves;
  for (const Variable& x : inputs)
    if (x.requires_grad()) leaves.push_back(x);
  if (row.derivative_order < 1 || leaves.empty() || !y.requires_grad()) return out;
  const auto place = [&](std::size_t leaf) {
    return inputs.size() == 1 || leaves[leaf].is_same(inputs[0]) ? 0 : 1;
  };
  const auto slopes_of = [&](const Variable& f, bool again) {
    return ebb::autograd::grad({f}, leaves, {ebb::ones_like(f)}, true, again, true);
  };
  const variable_list first = slopes_of(y, recorded && row.derivative_order > 1);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Variable& slope = first[i];
    if (!slope.defined()) continue;
    out[kByA + place(i)] = slope.detach();
    if (row.derivative_order < 2 || !slope.requires_grad()) continue;
    const variable_list second = slopes_of(slope, false);
    for (std::size_t j = 0; j < leaves.size(); ++j)
      if (second[j].defined()) out[kByAA + place(i) + place(j)] = second[j].detach();
  }
  return out;
}

}  // namespace

const char* name_of(Part part) {
  constexpr const char* names[] = {"f", "f_a", "f_b", "f_aa", "f_ab", "f_bb"};
  return names[part];
}

bool is_measured(const optable::Row& row) {
  return (row.pointwise_inputs == 1 || row.pointwise_inputs == 2) && row.integer_inputs.empty() &&
         row.family == "elementwise" && !row.result_dtype;
}

bool is_measured(const optable::Row& row, ebb::DType dtype) {
  const bool half = dtype == ebb::kHalf || dtype == ebb::kBFloat16;
  return (dtype == ebb::kF64 || row.dtype_reason.empty()) && (!half || row.half_reason.empty());
}

double allowed(ebb::DType dtype) { return dtype == ebb::kF64 || dtype == ebb::kF32 ? 4 : 1; }

bool holds(const Worst& worst, ebb::DType dtype, double slack) {
  return std::min(worst.ulps, worst.conditioned) <= allowed(dtype) + slack;
}

Errors measure(const optable::Row& row, const Exact& exact, ebb::DType dtype,
               const std::vector<std::vector<double>>& points, ebb::Device device) {
  Errors errors;
  variable_list inputs;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool constant = std::count(row.constants.begin(), row.constants.end(), i) > 0;
    inputs.push_back(ebb::tensor(points[i], ebb::kF64).to(dtype).to(device).requires_grad_(!constant));
  }
  Parts ways[] = {computed(row, inputs, true), computed(row, inputs, false)};
  if (ways[0][kValue].numel() != static_cast<std::int64_t>(points[0].size())) return errors;
  int parts = 0;
  for (Parts& way : ways)
    for (int part = 0; part < kParts; ++part)
      if (way[part].defined())
        way[part] = way[part].cpu().to(ebb::kF64).contiguous(), parts = std::max(parts, part + 1);
  const Format format = format_of(dtype);
  for (std::size_t i = 0; i < points[0].size(); ++i) {
    const double at[2] = {points[0][i], points.size() > 1 ? points[1][i] : 0.0};
    if (std::count(row.kink_values.begin(), row.kink_values.end(), at[0]) > 0) continue;
    const Jet jet = evaluate(exact, at[0], at[1], parts);
    if (!jet.value().finite()) continue;  // outside of the domain
    for (int part = 0; part < kParts; ++part)
      for (const Parts& got : ways) {
        if (!got[part].defined() || !jet.part[part].finite()) continue;
        Worst& worst = errors[static_cast<std::size_t>(part)];
        ++worst.points;
        const double value = got[part].data_ptr<double>()[i];
        const double ulps = jet.part[part].decided() ? error_of(jet.part[part], value, format) : INFINITY;
        const auto which = static_cast<Part>(part);
        double condition = 1;
        if (part <= kByB && ulps > 0.5) condition = condition_of(jet, at, which);
        if (part > kByB && ulps > allowed(dtype)) condition = condition_at_zero(exact, jet, at, which);
        if (ulps > 0.5) worst.conditioned = std::max(worst.conditioned, ulps / condition);
        if (ulps > worst.ulps)
          worst = {ulps, worst.conditioned, at[0], at[1], value, jet.part[part].middle(), worst.points};
      }
  }
  return errors;
}

}  // namespace accuracy
