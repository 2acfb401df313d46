// Tests of the evals in models.cpp against their definitions in plain loops. ba is compared with rotation
// matrices, one observation at a time.
#include "support/catch.h"
#include "tool.h"

#include <cmath>

using namespace gradbench_test;

namespace {

double squared_distance(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

std::size_t nearest(const Numbers& point, const Rows& centroids) {
  std::size_t best = 0;
  for (std::size_t j = 1; j < centroids.size(); ++j)
    if (squared_distance(point, centroids[j]) < squared_distance(point, centroids[best])) best = j;
  return best;
}

// A Gaussian mixture whose parameters are one list: alpha, mu, q, l.
struct Mixture {
  std::size_t d, k;
  double gamma;
  int m;
  Rows x;

  std::size_t triangle() const { return d * (d - 1) / 2; }
  std::size_t size() const { return k * (1 + 2 * d + triangle()); }

  // Returns the product of Q and a vector. Q is lower triangular with e^q on its diagonal.
  Numbers times_q(const double* q, const double* l, const Numbers& v) const {
    Numbers result(d);
    for (std::size_t i = 0; i < d; ++i) result[i] += std::exp(q[i]) * v[i];
    for (std::size_t column = 0; column < d; ++column)
      for (std::size_t row = column + 1; row < d; ++row) result[row] += *l++ * v[column];
    return result;
  }

  // Computes the log posterior from densities: the density of the mixture at each point, and the Wishart
  // density of each Q^T Q.
  double log_posterior(const Numbers& parameters) const {
    const double *alpha = parameters.data(), *mu = alpha + k, *q = mu + k * d, *l = q + k * d;
    const double pi = std::acos(-1.0);
    double weights = 0, result = 0;
    for (std::size_t j = 0; j < k; ++j) weights += std::exp(alpha[j]);
    for (const Numbers& point : x) {
      double density = 0;
      for (std::size_t j = 0; j < k; ++j) {
        Numbers centred(d);
        double log_root = 0;
        for (std::size_t i = 0; i < d; ++i) {
          centred[i] = point[i] - mu[j * d + i];
          log_root += q[j * d + i];
        }
        const Numbers scaled = times_q(q + j * d, l + j * triangle(), centred);
        density += std::exp(alpha[j] - squared_distance(scaled, Numbers(d)) / 2 + log_root) / weights /
                   std::pow(2 * pi, static_cast<double>(d) / 2);
      }
      result += std::log(density);
    }
    const double p = static_cast<double>(d), n = p + m + 1;
    double log_gamma = p * (p - 1) / 4 * std::log(pi);
    for (std::size_t j = 0; j < d; ++j) log_gamma += std::lgamma(n / 2 - static_cast<double>(j) / 2);
    for (std::size_t j = 0; j < k; ++j) {
      double log_det = 0, trace = 0;
      for (std::size_t i = 0; i < d; ++i) {
        log_det += 2 * q[j * d + i];
        trace += std::exp(2 * q[j * d + i]);
      }
      for (std::size_t i = 0; i < triangle(); ++i) trace += std::pow(l[j * triangle() + i], 2);
      const double log_det_v = -2 * p * std::log(gamma);
      result += (n - p - 1) / 2 * log_det - gamma * gamma * trace / 2 - n * p / 2 * std::log(2.0) -
                n / 2 * log_det_v - log_gamma;
    }
    return result;
  }
};

Rows cut(const Numbers& all, std::size_t from, std::size_t rows, std::size_t columns) {
  Rows result;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto start = all.begin() + static_cast<std::ptrdiff_t>(from + row * columns);
    result.emplace_back(start, start + static_cast<std::ptrdiff_t>(columns));
  }
  return result;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Returns the loss of the layers of width b, computed with plain loops.
double lstm_loss(const Numbers& main, const Numbers& extra, Rows state, const Rows& sequence) {
  const std::size_t b = sequence[0].size(), layers = state.size() / 2;
  double total = 0;
  for (std::size_t t = 0; t + 1 < sequence.size(); ++t) {
    Numbers x = sequence[t];
    for (std::size_t i = 0; i < b; ++i) x[i] *= extra[i];
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const double *weight = main.data() + layer * 8 * b, *bias = weight + 4 * b;
      Numbers &hidden = state[2 * layer], &cell = state[2 * layer + 1];
      for (std::size_t i = 0; i < b; ++i) {
        const auto gate = [&](std::size_t g, double input) {
          return input * weight[g * b + i] + bias[g * b + i];
        };
        const double forget = sigmoid(gate(0, x[i])), in = sigmoid(gate(1, hidden[i])),
                     out = sigmoid(gate(2, x[i])), change = std::tanh(gate(3, hidden[i]));
        cell[i] = cell[i] * forget + in * change;
        hidden[i] = out * std::tanh(cell[i]);
      }
      x = hidden;
    }
    double sum = 2;
    for (std::size_t i = 0; i < b; ++i) {
      x[i] = x[i] * extra[b + i] + extra[2 * b + i];
      sum += std::exp(x[i]);
    }
    for (std::size_t i = 0; i < b; ++i) total += sequence[t + 1][i] * (x[i] - std::log(sum));
  }
  return -total / static_cast<double>((sequence.size() - 1) * b);
}

}  // namespace

TEST_CASE("kmeans returns the cost of the centroids") {
  const Rows points = some(20, 3), centroids = some(4, 3);
  double cost = 0;
  for (const Numbers& point : points) cost += squared_distance(point, centroids[nearest(point, centroids)]);
  check_close(output_of("kmeans", "cost", {{"points", points}, {"centroids", centroids}}), {cost});
}

TEST_CASE("kmeans returns the Newton direction: the centroids minus the means of their clusters") {
  const Rows points = some(20, 3), centroids(points.end() - 4, points.end());
  Rows expected = centroids;
  for (std::size_t j = 0; j < centroids.size(); ++j) {
    Numbers sum(3);
    int count = 0;
    for (const Numbers& point : points) {
      if (nearest(point, centroids) != j) continue;
      for (std::size_t i = 0; i < 3; ++i) sum[i] += point[i];
      ++count;
    }
    for (std::size_t i = 0; i < 3; ++i) expected[j][i] -= sum[i] / count;
  }
  const Json direction = output_of("kmeans", "dir", {{"points", points}, {"centroids", centroids}});
  check_close(Json(flat(direction.get<Rows>())), flat(expected));
}

TEST_CASE("gmm returns the log posterior and its gradient") {
  const Mixture cases[] = {{3, 2, 1.5, 2, some(10, 3)}, {1, 3, 1.0, 0, some(6, 1)}};
  for (const Mixture& mixture : cases) {
    const std::size_t d = mixture.d, k = mixture.k, in_l = mixture.triangle();
    const Numbers parameters = some(mixture.size());
    const Json input = {{"d", d},
                        {"k", k},
                        {"n", mixture.x.size()},
                        {"x", mixture.x},
                        {"m", mixture.m},
                        {"gamma", mixture.gamma},
                        {"alpha", cut(parameters, 0, 1, k)[0]},
                        {"mu", cut(parameters, k, k, d)},
                        {"q", cut(parameters, k + k * d, k, d)},
                        {"l", cut(parameters, k + 2 * k * d, k, in_l)}};
    check_close(output_of("gmm", "objective", input), {mixture.log_posterior(parameters)});
    const Json output = output_of("gmm", "jacobian", input);
    Numbers gradient = output.at("alpha").get<Numbers>();
    for (const char* name : {"mu", "q", "l"}) {
      REQUIRE(output.at(name).size() == k);
      const Numbers part = flat(output.at(name).get<Rows>());
      gradient.insert(gradient.end(), part.begin(), part.end());
    }
    check_close(Json(gradient),
                slopes([&](const Numbers& at) { return mixture.log_posterior(at); }, parameters));
  }
}

TEST_CASE("lstm returns the loss of a model of two layers and its gradient") {
  const std::size_t layers = 2, b = 3;
  const Rows state = some(2 * layers, b), sequence = some(5, b);
  const Numbers parameters = some(8 * layers * b + 3 * b);
  const Json input = {{"main_params", cut(parameters, 0, 2 * layers, 4 * b)},
                      {"extra_params", cut(parameters, 8 * layers * b, 3, b)},
                      {"state", state},
                      {"sequence", sequence}};
  const auto loss = [&](const Numbers& all) {
    const auto extra = all.begin() + static_cast<std::ptrdiff_t>(8 * layers * b);
    return lstm_loss({all.begin(), extra}, {extra, all.end()}, state, sequence);
  };
  check_close(output_of("lstm", "objective", input), {loss(parameters)});
  check_close(output_of("lstm", "jacobian", input), slopes(loss, parameters));
}

namespace {

// Returns the weighted error in x or y of one observation. `p` has 11 parameters of the camera, 3 of the
// point, and the weight.
double error(const Numbers& p, const Numbers& seen, std::size_t axis) {
  const double angle = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  const double one = angle > 0 ? angle : 1;  // R = I + sin(angle) K + (1 - cos(angle)) K^2
  const double n[3] = {p[0] / one, p[1] / one, p[2] / one};
  const double k[3][3] = {{0, -n[2], n[1]}, {n[2], 0, -n[0]}, {-n[1], n[0], 0}};
  double in_camera[3] = {};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double square = 0;
      for (int l = 0; l < 3; ++l) square += k[i][l] * k[l][j];
      const double r = (i == j) + std::sin(angle) * k[i][j] + (1 - std::cos(angle)) * square;
      in_camera[i] += r * (p[11 + static_cast<std::size_t>(j)] - p[3 + static_cast<std::size_t>(j)]);
    }
  const double u = in_camera[0] / in_camera[2], v = in_camera[1] / in_camera[2], square = u * u + v * v;
  const double distorted = (axis == 0 ? u : v) * (1 + p[9] * square + p[10] * square * square);
  return p[14] * (distorted * p[6] + p[7 + axis] - seen[axis]);
}

struct Scene {
  Numbers camera{0.3, -0.2, 0.4, 0.1, 0.2, -0.5, 1.3, 0.05, -0.1, 0.02, 0.01};
  Numbers point{0.6, 0.3, 4.0};
  double weight = 0.8;
  Numbers seen{0.2, -0.4};

  Json input(int cameras, int points, int observations) const {
    return {{"n", cameras}, {"m", points}, {"p", observations}, {"cam", camera},
            {"x", point},   {"w", weight}, {"feat", seen}};
  }
  Numbers parameters() const {
    Numbers all = camera;
    all.insert(all.end(), point.begin(), point.end());
    all.push_back(weight);
    return all;
  }
};

}  // namespace

TEST_CASE("ba returns the reprojection and weight errors of all observations") {
  const Scene scene;
  const Json output = output_of("ba", "objective", scene.input(3, 5, 20));
  const Numbers all = scene.parameters();
  check_close(output.at("reproj_error").at("elements"),
              {error(all, scene.seen, 0), error(all, scene.seen, 1)});
  CHECK(output.at("reproj_error").at("repeated") == 20);
  check_close(output.at("w_err").at("element"), {1 - scene.weight * scene.weight});
  CHECK(output.at("w_err").at("repeated") == 20);
}

TEST_CASE("ba returns the values, rows and columns of the sparse Jacobian") {
  const Scene scene;
  const Json output = output_of("ba", "jacobian", scene.input(3, 5, 20));
  Numbers values, columns, rows;
  for (const std::size_t axis : {0, 1}) {
    for (const double slope :
         slopes([&](const Numbers& at) { return error(at, scene.seen, axis); }, scene.parameters()))
      values.push_back(slope);
    // The columns of the first camera, of the first point (after three cameras), and of the first weight
    // (after five points).
    for (const double column : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 33, 34, 35, 48}) columns.push_back(column);
  }
  for (int row = 0; row < 30; ++row) rows.push_back(15 * row);
  values.push_back(-2 * scene.weight);
  columns.push_back(48 + 19);  // the column of the twentieth weight
  rows.push_back(20 * 31);     // the number of stored entries
  check_close(output.at("vals"), values);
  check_close(output.at("cols"), columns, 0);
  check_close(output.at("rows"), rows, 0);
}

TEST_CASE("ba is correct and finite for a camera without rotation") {
  Scene scene;
  scene.camera[0] = scene.camera[1] = scene.camera[2] = 0;
  const Json input = scene.input(1, 1, 16);
  check_close(output_of("ba", "objective", input).at("reproj_error").at("elements"),
              {error(scene.parameters(), scene.seen, 0), error(scene.parameters(), scene.seen, 1)});
  const Numbers given = output_of("ba", "jacobian", input).at("vals").get<Numbers>();
  for (const double value : given) CHECK(std::isfinite(value));
}
