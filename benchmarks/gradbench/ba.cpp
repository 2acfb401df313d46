// ba: bundle adjustment. How far projected points are from where cameras saw them, and the sparse Jacobian.
#include "eval.h"

#include <algorithm>

namespace gradbench {
namespace {

constexpr int64_t kCamera = 11;  // rotation 3, centre 3, focal length, principal point 2, distortion 2
constexpr int64_t kPoint = 3;
constexpr int64_t kRow = kCamera + kPoint + 1;  // what an observation depends on: those and its weight

struct Problem {
  int64_t cameras, points, observations;
  Tensor camera, point;  // of each observation, which one
  Tensor parameters;     // [observations, kRow]
  Tensor seen;           // [observations, 2]
};

// One camera, point, weight and place, repeated; observations take cameras and points in turn.
Problem read_problem(const Json& input) {
  Problem p;
  p.cameras = input.at("n").get<int64_t>();
  p.points = input.at("m").get<int64_t>();
  p.observations = input.at("p").get<int64_t>();
  const Tensor turn = torch::arange(p.observations, torch::kLong);
  p.camera = turn.remainder(p.cameras);
  p.point = turn.remainder(p.points);
  const Tensor cameras = read(input.at("cam")).repeat({p.cameras, 1});
  const Tensor points = read(input.at("x")).repeat({p.points, 1});
  const Tensor weights = torch::full({p.observations, 1}, input.at("w").get<double>(), torch::kDouble);
  p.parameters = torch::cat({cameras.index_select(0, p.camera), points.index_select(0, p.point), weights}, 1);
  p.seen = read(input.at("feat")).repeat({p.observations, 1});
  return p;
}

Tensor row_dot(const Tensor& a, const Tensor& b) { return (a * b).sum(1, /*keepdim=*/true); }

// Rodrigues' formula: points turned about axes whose lengths are the angles.
Tensor rotate(const Tensor& rotation, const Tensor& points) {
  const Tensor square = row_dot(rotation, rotation);
  const Tensor turned = square > 0;
  const Tensor angle = torch::where(turned, square, torch::ones_like(square)).sqrt();
  const Tensor axis = rotation / angle, cosine = angle.cos();
  const Tensor about = points * cosine + torch::cross(axis, points, 1) * angle.sin() +
                       axis * row_dot(axis, points) * (1 - cosine);
  return torch::where(turned, about, points + torch::cross(rotation, points, 1));
}

// The weighted errors of observations: [observations, 2].
Tensor errors(const Tensor& parameters, const Tensor& seen) {
  const auto part = [&](int64_t from, int64_t size) { return parameters.narrow(1, from, size); };
  const Tensor in_camera = rotate(part(0, 3), part(kCamera, kPoint) - part(3, 3));
  const Tensor flat = in_camera.narrow(1, 0, 2) / in_camera.narrow(1, 2, 1);
  const Tensor square = row_dot(flat, flat);
  const Tensor distortion = 1 + part(9, 1) * square + part(10, 1) * square.square();
  const Tensor projected = flat * distortion * part(6, 1) + part(7, 2);
  return part(kCamera + kPoint, 1) * (projected - seen);
}

Tensor weight_errors(const Tensor& weights) { return 1 - weights.square(); }

// Each row of errors depends on parameters of its own alone, so that two gradients are the whole Jacobian.
Tensors jacobian(const Problem& p) {
  const Tensor parameters = p.parameters.detach().requires_grad_();
  const Tensor weights = p.parameters.select(1, kRow - 1).detach().requires_grad_();
  const Tensor error = errors(parameters, p.seen);
  const Tensor first = torch::autograd::grad({error.select(1, 0).sum()}, {parameters}, {}, true)[0];
  const Tensor second = torch::autograd::grad({error.select(1, 1).sum()}, {parameters})[0];
  const Tensor of_weights = torch::autograd::grad({weight_errors(weights).sum()}, {weights})[0];
  const Tensor values = torch::cat({torch::stack({first, second}, 1).view({-1}), of_weights});

  const Tensor camera_columns = (p.camera * kCamera).unsqueeze(1) + torch::arange(kCamera, torch::kLong);
  const Tensor point_columns =
      (p.point * kPoint + p.cameras * kCamera).unsqueeze(1) + torch::arange(kPoint, torch::kLong);
  const Tensor weight_columns =
      torch::arange(p.observations, torch::kLong) + (p.cameras * kCamera + p.points * kPoint);
  const Tensor columns = torch::cat({camera_columns, point_columns, weight_columns.unsqueeze(1)}, 1);
  const Tensor twice = columns.unsqueeze(1).expand({-1, 2, -1}).reshape({-1});

  const int64_t blocks = 2 * p.observations;
  const Tensor rows = torch::cat({torch::arange(blocks + 1, torch::kLong) * kRow,
                                  torch::arange(1, p.observations + 1, torch::kLong) + blocks * kRow});
  return {rows, torch::cat({twice, weight_columns}), values};
}

// All observations being alike, an answer shows what belongs to the first one, and the last number.
template <class T>
Json shorten(const Tensor& list) {
  const T* const all = list.data_ptr<T>();
  std::vector<T> shown(all, all + std::min(2 * kRow, list.numel() - 1));
  shown.push_back(all[list.numel() - 1]);
  return shown;
}

Json write_jacobian(const Tensors& results) {
  return {{"rows", shorten<int64_t>(results[0])},
          {"cols", shorten<int64_t>(results[1])},
          {"vals", shorten<double>(results[2])}};
}

Json write_errors(const Tensors& results) {
  const Tensor &projection = results[0], &weight = results[1];
  return {{"reproj_error", {{"elements", write(projection.select(0, 0))}, {"repeated", projection.size(0)}}},
          {"w_err", {{"element", write(weight.select(0, 0))}, {"repeated", weight.size(0)}}}};
}

}  // namespace

Eval ba() {
  return {{"objective",
           [](const Json& input) -> Call {
             const Problem p = read_problem(input);
             const auto compute = [=]() -> Tensors {
               const torch::NoGradGuard no_grad;
               return {errors(p.parameters, p.seen), weight_errors(p.parameters.select(1, kRow - 1))};
             };
             return {compute, write_errors};
           }},
          {"jacobian", [](const Json& input) -> Call {
             const Problem p = read_problem(input);
             return {[=] { return jacobian(p); }, write_jacobian};
           }}};
}

}  // namespace gradbench
