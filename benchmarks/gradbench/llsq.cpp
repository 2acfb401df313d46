// llsq: half the squared distance of a polynomial from the sign, at n points from -1 to 1.
#include "eval.h"

namespace gradbench {
namespace {

// The points and their powers are part of the function.
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

}  // namespace gradbench
