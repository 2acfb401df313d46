// kmeans: the squared distances of points from their nearest centroids, and Newton's direction for the
// centroids.
#include "eval.h"

namespace gradbench {
namespace {

Tensor cost(const Tensor& points, const Tensor& centroids) {
  const Tensor squares = points.square().sum(1, /*keepdim=*/true) + centroids.square().sum(1);
  return std::get<0>((squares - points.mm(centroids.t()) * 2).min(1)).sum();
}

// Gradient over Hessian, which is diagonal: its product with ones is its diagonal.
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

}  // namespace gradbench
