// ode: y_0' = x_0, y_i' = x_i y_(i-1) from 0, up to time 2, by s steps of Runge and Kutta's method.
#include "eval.h"

namespace gradbench {
namespace {

Tensor slope(const Tensor& x, const Tensor& y) {
  const int64_t n = x.size(0);
  return torch::cat({x.slice(0, 0, 1), x.slice(0, 1) * y.slice(0, 0, n - 1)});
}

Tensor solve(const Tensor& x, int64_t steps) {
  const double h = 2.0 / static_cast<double>(steps);
  Tensor y = torch::zeros_like(x);
  for (int64_t step = 0; step < steps; ++step) {
    const Tensor k1 = slope(x, y);
    const Tensor k2 = slope(x, y + k1 * (h / 2));
    const Tensor k3 = slope(x, y + k2 * (h / 2));
    const Tensor k4 = slope(x, y + k3 * h);
    y = y + (k1 + k2 * 2 + k3 * 2 + k4) * (h / 6);
  }
  return y;
}

}  // namespace

Eval ode() {
  return {{"primal",
           [](const Json& input) {
             const Tensor x = read(input.at("x"));
             const int64_t s = input.at("s").get<int64_t>();
             return primal([=] { return solve(x, s); });
           }},
          {"gradient", [](const Json& input) {
             const Tensor x = read_input(input.at("x"));
             const int64_t s = input.at("s").get<int64_t>();
             return gradient([=] { return solve(x, s).select(0, -1); }, {x}, write_first);
           }}};
}

}  // namespace gradbench
