// Rows of integrals and derivatives of samples, window functions and frequencies.
#include <ebb/ops/creation.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "optable/reference.h"
#include "optable/table.h"

#include <cmath>

namespace optable {
namespace {

double triangles(const Column& y) {
  double sum = 0;
  for (std::size_t i = 1; i < y.size(); ++i) sum += (y[i] + y[i - 1]) / 2;
  return sum;
}
void running_triangles(Column& y) {
  Column out;
  for (std::size_t i = 2; i <= y.size(); ++i)
    out.push_back(triangles(Column(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(i))));
  y = out;
}

// Returns the derivative at `at` of the parabola through three samples.
double parabola(const Column& x, const Column& y, std::size_t first, double at) {
  double sum = 0;
  for (std::size_t j = first; j < first + 3; ++j) {
    double others = 0, product = 1;
    for (std::size_t k = first; k < first + 3; ++k) {
      if (k == j) continue;
      others += at - x[k];
      product *= x[j] - x[k];
    }
    sum += y[j] * others / product;
  }
  return sum;
}
Column slopes(const Column& x, const Column& y, int edge_order) {
  const std::size_t n = y.size();
  Column out(n);
  for (std::size_t i = 1; i + 1 < n; ++i) out[i] = parabola(x, y, i - 1, x[i]);
  out[0] = edge_order == 2 ? parabola(x, y, 0, x[0]) : (y[1] - y[0]) / (x[1] - x[0]);
  out[n - 1] =
      edge_order == 2 ? parabola(x, y, n - 3, x[n - 1]) : (y[n - 1] - y[n - 2]) / (x[n - 1] - x[n - 2]);
  return out;
}
template <int edge_order>
void even_slopes(Column& y) {
  Column x;
  for (std::size_t i = 0; i < y.size(); ++i) x.push_back(0.5 * static_cast<double>(i));
  y = slopes(x, y, edge_order);
}

// Returns increasing coordinates, one per sample.
Variable coordinates(std::size_t, std::size_t input) {
  if (input == 0) return {};
  return ebb::tensor({-1.0, -0.25, 0.5, 2.0}, ebb::kF64);
}

void calculus() {
  unary("trapezoid", [](V y) { return ebb::trapezoid(y, 0.5, 1); })
      .composed()
      .shapes({{{3, 4}}, {{2, 3, 2}}})
      .reference(over(1, [](const Column& y) { return 0.5 * triangles(y); }))
      .error("bool", [] { ebb::trapezoid(ebb::ones({2}, ebb::kBool)); })
      .error("one x value", [] { ebb::trapezoid(ebb::ones({2, 3}), ebb::ones({4})); });
  binary("trapezoid.at", [](V y, V x) { return ebb::trapezoid(y, x); })
      .composed()
      .shapes({{{3, 4}, {4}}, {{2, 3}, {2, 3}}})
      .reference([](const Arrays& in) {
        Array out{{in[0].size(0)}, {}};
        const std::int64_t n = in[0].size(1);
        for (std::int64_t i = 0; i < in[0].size(0); ++i) {
          const auto x = [&](std::int64_t k) { return in[1].sizes.size() == 1 ? in[1]({k}) : in[1]({i, k}); };
          double sum = 0;
          for (std::int64_t k = 1; k < n; ++k)
            sum += (x(k) - x(k - 1)) * (in[0]({i, k}) + in[0]({i, k - 1})) / 2;
          out.values.push_back(sum);
        }
        return Arrays{out};
      });
  unary("trapz", [](V y) { return ebb::trapz(y, 1, 0); })
      .composed()
      .shapes({{{4, 2}}})
      .reference(over(0, triangles));
  unary("cumulative_trapezoid", [](V y) { return ebb::cumulative_trapezoid(y, 1, 1); })
      .composed()
      .shapes({{{3, 4}}, {{2, 3, 2}}})
      .reference(along(1, running_triangles));
  binary("cumulative_trapezoid.at", [](V y, V x) { return ebb::cumulative_trapezoid(y, x * 0 + 2 * x); })
      .composed()
      .shapes({{{3, 4}, {4}}})
      .special([](std::size_t s, std::size_t i) { return coordinates(s, i); })
      .reference([](const Arrays& in) {
        Array out{{3, 3}, {}};
        for (std::int64_t i = 0; i < 3; ++i) {
          double sum = 0;
          for (std::int64_t k = 1; k < 4; ++k)
            out.values.push_back(sum += (in[1]({k}) - in[1]({k - 1})) * (in[0]({i, k}) + in[0]({i, k - 1})));
        }
        return Arrays{out};
      });
  unary("gradient", [](V f) { return ebb::gradient(f, 0.5, 1)[0]; })
      .composed()
      .shapes({{{3, 4}}, {{2, 3, 2}}})
      .reference(along(1, even_slopes<1>))
      .error("edge_order", [] { ebb::gradient(ebb::ones({4}), 1, 0, 3); })
      .error("at least edge_order+1", [] { ebb::gradient(ebb::ones({2}), 1, 0, 2); })
      .error("spacing", [] {
        ebb::gradient(ebb::ones({4, 4}), ebb::ArrayRef<ebb::Scalar>(std::vector<ebb::Scalar>{1, 2, 3}));
      });
  unary("gradient.edges", [](V f) { return ebb::gradient(f, 0.5, 1, 2)[0]; })
      .composed()
      .shapes({{{3, 4}}, {{2, 5, 2}}})
      .reference(along(1, even_slopes<2>));
  row("gradient.all", [](In x) { return ebb::gradient(x[0], ebb::optional<ebb::Scalar>(0.5)); })
      .composed()
      .shapes({{{3, 4}}})
      .reference([](const Arrays& in) {
        return Arrays{along(0, even_slopes<1>)(in)[0], along(1, even_slopes<1>)(in)[0]};
      });
  for (const int edge : {1, 2})
    row(edge == 1 ? "gradient.at" : "gradient.at_edges",
        [edge](In x) { return ebb::gradient(x[0], ebb::TensorList(&x[1], 1), ebb::IntArrayRef({1}), edge); })
        .composed()
        .shapes({{{3, 4}, {4}}})
        .special([](std::size_t s, std::size_t i) { return coordinates(s, i); })
        .reference([edge](const Arrays& in) {
          Array out{{3, 4}, {}};
          for (std::size_t i = 0; i < 3; ++i) {
            const auto from = in[0].values.begin() + static_cast<std::ptrdiff_t>(4 * i);
            for (const double s : slopes(in[1].values, Column(from, from + 4), edge)) out.values.push_back(s);
          }
          return Arrays{out};
        });
}

Row& made(const char* name, Variable (*f)(), std::int64_t n, double (*value)(double i)) {
  return row(name, [f](In) { return variable_list{f()}; })
      .shapes({{}})
      .order(0, "it has no inputs")
      .cpu_only("it is created on the CPU, as its options say")
      .reference([n, value](const Arrays&) {
        Array out{{n}, {}};
        for (std::int64_t i = 0; i < n; ++i) out.values.push_back(value(static_cast<double>(i)));
        return Arrays{out};
      });
}

// Computes I_0 as the integral of e^(x cos t) over half a period; the rectangle rule gives all digits.
double bessel(double x) {
  double sum = 0;
  for (int k = 0; k < 64; ++k) sum += std::exp(x * std::cos(M_PI * (k + 0.5) / 64));
  return sum / 64;
}

void windows() {
  made(
      "bartlett_window", [] { return ebb::bartlett_window(7, ebb::kF64); }, 7,
      [](double i) { return 1 - std::fabs(i / 3.5 - 1); })
      .error("bartlett_window", [] { ebb::bartlett_window(-1); });
  made(
      "bartlett_window.symmetric", [] { return ebb::bartlett_window(7, false, ebb::kF64); }, 7,
      [](double i) { return 1 - std::fabs(i / 3 - 1); });
  made(
      "blackman_window", [] { return ebb::blackman_window(7, ebb::kF64); }, 7,
      [](double i) { return 0.42 - 0.5 * std::cos(2 * M_PI * i / 7) + 0.08 * std::cos(4 * M_PI * i / 7); });
  made(
      "hamming_window", [] { return ebb::hamming_window(7, ebb::kF64); }, 7,
      [](double i) { return 0.54 - 0.46 * std::cos(2 * M_PI * i / 7); });
  made(
      "hamming_window.numbers", [] { return ebb::hamming_window(6, false, 0.5, 0.25, ebb::kF64); }, 6,
      [](double i) { return 0.5 - 0.25 * std::cos(2 * M_PI * i / 5); });
  made(
      "hann_window", [] { return ebb::hann_window(7, ebb::kF64); }, 7,
      [](double i) { return std::pow(std::sin(M_PI * i / 7), 2); })
      .error("hann_window", [] { ebb::hann_window(3, ebb::kLong); });
  made("hann_window.one", [] { return ebb::hann_window(1, false); }, 1, [](double) { return 1.0; });
  made(
      "kaiser_window", [] { return ebb::kaiser_window(7, ebb::kF64); }, 7,
      [](double i) { return bessel(12 * std::sqrt(1 - std::pow(i / 3.5 - 1, 2))) / bessel(12); });
  made(
      "kaiser_window.numbers", [] { return ebb::kaiser_window(6, false, 3.5, ebb::kF64); }, 6,
      [](double i) { return bessel(3.5 * std::sqrt(1 - std::pow(i / 2.5 - 1, 2))) / bessel(3.5); });
  made(
      "fft_fftfreq", [] { return ebb::fft_fftfreq(5, 0.5, ebb::kF64); }, 5,
      [](double i) { return (i < 3 ? i : i - 5) / 2.5; })
      .error("fft_fftfreq", [] { ebb::fft_fftfreq(-1); });
  made(
      "fftfreq", [] { return ebb::fft::fftfreq(4, ebb::kF64); }, 4,
      [](double i) { return (i < 2 ? i : i - 4) / 4; });
  made(
      "fft_rfftfreq", [] { return ebb::fft_rfftfreq(5, 0.5, ebb::kF64); }, 3,
      [](double i) { return i / 2.5; });
  made("rfftfreq", [] { return ebb::fft::rfftfreq(4, ebb::kF64); }, 3, [](double i) { return i / 4; });
  unary("fft_fftshift", [](V x) { return ebb::fft_fftshift(x); })
      .shapes({{{3, 4}}})
      .reference(picked({3, 4}, [](const Index& i) { return Index{(i[0] + 2) % 3, (i[1] + 2) % 4}; }));
  unary("fft_ifftshift", [](V x) { return ebb::fft_ifftshift(x, ebb::IntArrayRef({0})); })
      .shapes({{{3, 4}}})
      .reference(picked({3, 4}, [](const Index& i) { return Index{(i[0] + 1) % 3, i[1]}; }));
}

}  // namespace

void register_calculus() {
  family("scan");
  calculus();
  family("creation");
  windows();
}

}  // namespace optable
