// The evals of GradBench that consist of one formula: det, hello, kmeans, llsq, lse and ode.
#include "eval.h"

// det: the determinant by expansion along the first rows. All minors of the same size are one batch.

namespace gradbench {
namespace {

// Returns, for each of m columns, the indices of the other m - 1 columns.
Tensor columns_beside(int64_t m) {
  std::vector<int64_t> columns;
  for (int64_t left_out = 0; left_out < m; ++left_out)
    for (int64_t column = 0; column < m; ++column)
      if (column != left_out) columns.push_back(column);
  return torch::tensor(columns, torch::kLong);
}

// Returns the determinants of matrices [count, m, m]. Equal minors are computed again and again, so there are
// m! minors of size 1.
Tensor determinants(const Tensor& matrices) {
  const int64_t count = matrices.size(0), m = matrices.size(1);
  if (m == 1) return matrices.reshape({count});
  const Tensor below = matrices.slice(1, 1).index_select(2, columns_beside(m));
  const Tensor minors = below.view({count, m - 1, m, m - 1}).transpose(1, 2);
  const Tensor expanded = determinants(minors.reshape({count * m, m - 1, m - 1})).view({count, m});
  const Tensor sign = 1 - 2 * torch::arange(m, torch::kDouble).remainder(2);
  return (matrices.select(1, 0) * expanded * sign).sum(1);
}

}  // namespace

Eval det() {
  const auto determinant = [](const Tensor& a, int64_t size) {
    return determinants(a.view({1, size, size})).select(0, 0);
  };
  return {{"primal",
           [=](const Json& input) {
             const Tensor a = read(input.at("A"));
             const int64_t size = input.at("ell").get<int64_t>();
             return primal([=] { return determinant(a, size); });
           }},
          {"gradient", [=](const Json& input) {
             const Tensor a = read_input(input.at("A"));
             const int64_t size = input.at("ell").get<int64_t>();
             return gradient([=] { return determinant(a, size); }, {a}, write_first);
           }}};
}

// hello: the square of a number, and its derivative.

Eval hello() {
  return {{"square",
           [](const Json& input) {
             const Tensor x = read(input);
             return primal([=] { return x * x; });
           }},
          {"double", [](const Json& input) {
             const Tensor x = read_input(input);
             return gradient([=] { return x * x; }, {x}, write_first);
           }}};
}

// kmeans: the sum of squared distances of points from their nearest centroids, and its Newton direction.

namespace {

Tensor cost(const Tensor& points, const Tensor& centroids) {
  const Tensor squares = points.square().sum(1, /*keepdim=*/true) + centroids.square().sum(1);
  return std::get<0>((squares - points.mm(centroids.t()) * 2).min(1)).sum();
}

// Returns the gradient divided by the Hessian. The Hessian is diagonal, so its product with ones is its
// diagonal.
Tensor direction(const Tensor& points, const Tensor& centroids) {
  const Tensor slope = torch::autograd::grad({cost(points, centroids)}, {centroids}, /*grad_outputs=*/{},
                                             /*retain_graph=*/true, /*create_graph=*/true)[0];
  const Tensor diagonal = torch::autograd::grad({slope.sum()}, {centroids})[0];
  return slope.detach() / diagonal;
}

}  // namespace

Eval kmeans() {
  return {{"cost",
           [](const Json& input) {
             const Tensor points = read(input.at("points")), centroids = read(input.at("centroids"));
             return primal([=] { return cost(points, centroids); });
           }},
          {"dir", [](const Json& input) -> Call {
             const Tensor points = read(input.at("points")), centroids = read_input(input.at("centroids"));
             return {[=]() -> Tensors { return {direction(points, centroids)}; }, write_first};
           }}};
}

// llsq: half the squared distance between a polynomial and the sign function at n points from -1 to 1.

namespace {

// Computes the distance. The points and their powers are part of the timed function.
Tensor distance(const Tensor& coefficients, int64_t points) {
  const Tensor t = torch::linspace(-1, 1, points, torch::kDouble);
  const Tensor powers = torch::linalg_vander(t, coefficients.size(0));
  return (t.sign() - powers.mv(coefficients)).square().sum() / 2;
}

}  // namespace

Eval llsq() {
  return {{"primal",
           [](const Json& input) {
             const Tensor x = read(input.at("x"));
             const int64_t n = input.at("n").get<int64_t>();
             return primal([=] { return distance(x, n); });
           }},
          {"gradient", [](const Json& input) {
             const Tensor x = read_input(input.at("x"));
             const int64_t n = input.at("n").get<int64_t>();
             return gradient([=] { return distance(x, n); }, {x}, write_first);
           }}};
}

// lse: max(x) + log(sum_i exp(x_i - max(x))), with elementary ops.

namespace {

Tensor log_sum_exp(const Tensor& x) {
  const Tensor top = x.max();
  return (x - top).exp().sum().log() + top;
}

}  // namespace

Eval lse() {
  return {{"primal",
           [](const Json& input) {
             const Tensor x = read(input.at("x"));
             return primal([=] { return log_sum_exp(x); });
           }},
          {"gradient", [](const Json& input) {
             const Tensor x = read_input(input.at("x"));
             return gradient([=] { return log_sum_exp(x); }, {x}, write_first);
           }}};
}

// ode: the solution at time 2 of y_0' = x_0, y_i' = x_i y_(i-1) with y = 0 at time 0, computed with s
// Runge-Kutta steps.

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
