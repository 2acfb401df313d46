// lse: max(x) + log(sum_i exp(x_i - max(x))), by its elementary steps.
#include "eval.h"

namespace gradbench {
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

}  // namespace gradbench
