// gmm: the logarithm of the posterior of a mixture of Gaussians under a Wishart prior of its precisions.
#include "eval.h"

#include <cmath>

namespace gradbench {
namespace {

const double kPi = std::acos(-1.0);

struct Problem {
  Tensor alpha, mu, q, l;  // k weights, k x d centres, logarithms of diagonals, k lower triangles by columns
  Tensor x;                // n x d points
  Tensor places;           // of a triangle's elements in a d x d matrix
  double gamma;            // the prior's precision
  int64_t m;               // and its degrees of freedom beyond d + 1
};

Problem read_problem(const Json& input, Tensor (*parameter)(const Json&)) {
  const int64_t d = input.at("d").get<int64_t>();
  std::vector<int64_t> places;
  for (int64_t column = 0; column < d; ++column)
    for (int64_t row = column + 1; row < d; ++row) places.push_back(row * d + column);
  return {parameter(input.at("alpha")),    parameter(input.at("mu")),   parameter(input.at("q")),
          parameter(input.at("l")),        read(input.at("x")),         torch::tensor(places, torch::kLong),
          input.at("gamma").get<double>(), input.at("m").get<int64_t>()};
}

double log_multigamma(double a, int64_t p) {
  double sum = 0.25 * static_cast<double>(p * (p - 1)) * std::log(kPi);
  for (int64_t j = 0; j < p; ++j) sum += std::lgamma(a - 0.5 * static_cast<double>(j));
  return sum;
}

// The prior of all components, of the diagonals and triangles of their factors.
Tensor log_prior(const Problem& p, const Tensor& diagonals, const Tensor& sum_q) {
  const int64_t k = p.mu.size(0), d = p.mu.size(1), n = d + p.m + 1;
  const double freedom = static_cast<double>(n);
  const double constant = freedom * static_cast<double>(d) * (std::log(p.gamma) - 0.5 * std::log(2.0)) -
                          log_multigamma(0.5 * freedom, d);
  const Tensor frobenius = diagonals.square().sum() + p.l.square().sum();
  return sum_q.sum() * p.m - frobenius * (0.5 * p.gamma * p.gamma) + static_cast<double>(k) * constant;
}

Tensor log_posterior(const Problem& p) {
  const int64_t n = p.x.size(0), k = p.mu.size(0), d = p.mu.size(1);
  const Tensor diagonals = p.q.exp(), sum_q = p.q.sum(1);
  const Tensor triangles = torch::zeros({k, d * d}, torch::kDouble).index_copy(1, p.places, p.l);
  const Tensor factors = triangles.view({k, d, d}) + torch::diag_embed(diagonals);
  const Tensor centred = p.x.unsqueeze(0) - p.mu.unsqueeze(1);       // k x n x d
  const Tensor squares = centred.bmm(factors.mT()).square().sum(2);  // k x n
  const Tensor terms = (p.alpha + sum_q).unsqueeze(1) - squares * 0.5;
  const double constant = -0.5 * static_cast<double>(n * d) * std::log(2 * kPi);
  return terms.logsumexp(0).sum() - p.alpha.logsumexp(0) * n + log_prior(p, diagonals, sum_q) + constant;
}

Json write_gradients(const Tensors& results) {
  return {{"alpha", write(results[0])},
          {"mu", write(results[1])},
          {"q", write(results[2])},
          {"l", write(results[3])}};
}

}  // namespace

Eval gmm() {
  return {{"objective",
           [](const Json& input) {
             const Problem p = read_problem(input, read);
             return primal([=] { return log_posterior(p); });
           }},
          {"jacobian", [](const Json& input) {
             const Problem p = read_problem(input, read_input);
             return gradient([=] { return log_posterior(p); }, {p.alpha, p.mu, p.q, p.l}, write_gradients);
           }}};
}

}  // namespace gradbench
