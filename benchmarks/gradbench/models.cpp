// The evals of GradBench that fit models to data: ba, gmm and lstm.
#include "eval.h"

#include <algorithm>
#include <cmath>

// ba: bundle adjustment. The errors between projected and observed points, and their sparse Jacobian.

namespace gradbench {
namespace {

constexpr int64_t kCamera = 11;  // rotation 3, centre 3, focal length, principal point 2, distortion 2
constexpr int64_t kPoint = 3;
constexpr int64_t kRow = kCamera + kPoint + 1;  // the parameters of an observation: camera, point and weight

struct Bundle {
  int64_t cameras, points, observations;
  Tensor camera, point;  // the indices of the camera and the point of each observation
  Tensor parameters;     // [observations, kRow]
  Tensor seen;           // [observations, 2]
};

// Reads one camera, one point, one weight and one observed position, and repeats each. Observation i uses
// camera i % n and point i % m.
Bundle read_bundle(const Json& input) {
  Bundle p;
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

// Rotates points about axes whose lengths are the angles (Rodrigues' formula).
Tensor rotate(const Tensor& rotation, const Tensor& points) {
  const Tensor square = row_dot(rotation, rotation);
  const Tensor turned = square > 0;
  const Tensor angle = torch::where(turned, square, torch::ones_like(square)).sqrt();
  const Tensor axis = rotation / angle, cosine = angle.cos();
  const Tensor about = points * cosine + torch::cross(axis, points, 1) * angle.sin() +
                       axis * row_dot(axis, points) * (1 - cosine);
  return torch::where(turned, about, points + torch::cross(rotation, points, 1));
}

// Returns the weighted errors of the observations: [observations, 2].
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

// Computes the Jacobian from two gradients. This is possible because each row of errors only depends on the
// parameters of its own observation.
Tensors jacobian(const Bundle& p) {
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

// Returns the entries of the first observation and the last entry. The answer needs no more, because all
// observations are equal.
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
             const Bundle p = read_bundle(input);
             const auto compute = [=]() -> Tensors {
               const torch::NoGradGuard no_grad;
               return {errors(p.parameters, p.seen), weight_errors(p.parameters.select(1, kRow - 1))};
             };
             return {compute, write_errors};
           }},
          {"jacobian", [](const Json& input) -> Call {
             const Bundle p = read_bundle(input);
             return {[=] { return jacobian(p); }, write_jacobian};
           }}};
}

// gmm: the log posterior of a Gaussian mixture with a Wishart prior of the precisions.

namespace {

const double kPi = std::acos(-1.0);

struct Mixture {
  Tensor alpha, mu, q, l;  // k weights, k x d centres, log diagonals, k lower triangles in column order
  Tensor x;                // n x d points
  Tensor places;           // the indices of a triangle's elements in a d x d matrix
  double gamma;            // the precision of the prior
  int64_t m;               // the degrees of freedom of the prior, minus d + 1
};

Mixture read_mixture(const Json& input, Tensor (*parameter)(const Json&)) {
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

// Returns the log prior of all components, computed from the diagonals and lower triangles of the factors of
// the precisions.
Tensor log_prior(const Mixture& p, const Tensor& diagonals, const Tensor& sum_q) {
  const int64_t k = p.mu.size(0), d = p.mu.size(1), n = d + p.m + 1;
  const double freedom = static_cast<double>(n);
  const double constant = freedom * static_cast<double>(d) * (std::log(p.gamma) - 0.5 * std::log(2.0)) -
                          log_multigamma(0.5 * freedom, d);
  const Tensor frobenius = diagonals.square().sum() + p.l.square().sum();
  return sum_q.sum() * p.m - frobenius * (0.5 * p.gamma * p.gamma) + static_cast<double>(k) * constant;
}

Tensor log_posterior(const Mixture& p) {
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
             const Mixture p = read_mixture(input, read);
             return primal([=] { return log_posterior(p); });
           }},
          {"jacobian", [](const Json& input) {
             const Mixture p = read_mixture(input, read_input);
             return gradient([=] { return log_posterior(p); }, {p.alpha, p.mu, p.q, p.l}, write_gradients);
           }}};
}

// lstm: the loss of LSTM layers with diagonal weights, which predict the next vector of a sequence.

namespace {

struct Recurrence {
  Tensor main;      // [2 layers, 4 b]: for each layer the weights and then the biases of its four gates
  Tensor extra;     // [3, b]: input weights, output weights, output biases
  Tensor state;     // [2 layers, b]: for each layer the initial hidden state and the initial cell
  Tensor sequence;  // [c, b]
};

Recurrence read_recurrence(const Json& input, Tensor (*parameter)(const Json&)) {
  return {parameter(input.at("main_params")), parameter(input.at("extra_params")), read(input.at("state")),
          read(input.at("sequence"))};
}

// Computes one step of a layer. The forget and output gates depend on x. The input gate and the change of the
// cell depend on `hidden`.
Tensor step(const Tensor& x, const Tensor& weights, const Tensor& biases, Tensor& hidden, Tensor& cell) {
  const int64_t b = x.size(0);
  const Tensor gates = torch::cat({x, hidden, x, hidden}) * weights + biases;
  const Tensor open = gates.slice(0, 0, 3 * b).sigmoid(), change = gates.slice(0, 3 * b).tanh();
  cell = cell * open.slice(0, 0, b) + open.slice(0, b, 2 * b) * change;
  hidden = open.slice(0, 2 * b) * cell.tanh();
  return hidden;
}

Tensor loss(const Recurrence& p) {
  const std::vector<Tensor> rows = p.main.unbind(0), inputs = (p.sequence * p.extra.select(0, 0)).unbind(0);
  std::vector<Tensor> state = p.state.unbind(0), outputs;
  for (std::size_t t = 0; t + 1 < inputs.size(); ++t) {
    Tensor x = inputs[t];
    for (std::size_t i = 0; i < rows.size(); i += 2)
      x = step(x, rows[i], rows[i + 1], state[i], state[i + 1]);
    outputs.push_back(x);
  }
  const Tensor predicted = torch::stack(outputs) * p.extra.select(0, 1) + p.extra.select(0, 2);
  const Tensor normalized = predicted - (predicted.exp().sum(1, /*keepdim=*/true) + 2).log();
  return -(p.sequence.slice(0, 1) * normalized).mean();
}

}  // namespace

Eval lstm() {
  return {{"objective",
           [](const Json& input) {
             const Recurrence p = read_recurrence(input, read);
             return primal([=] { return loss(p); });
           }},
          {"jacobian", [](const Json& input) {
             const Recurrence p = read_recurrence(input, read_input);
             return gradient([=] { return loss(p); }, {p.main, p.extra});
           }}};
}

}  // namespace gradbench
