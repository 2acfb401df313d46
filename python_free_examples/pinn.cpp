// A physics-informed neural network (PINN; Raissi, Perdikaris, Karniadakis 2019) that solves Burgers'
// equation:
//     u_t + u u_x = v u_xx,   u(0, x) = -sin(pi x),   u(t, -1) = u(t, 1) = 0
//
// There are no training data. The loss is the residual of the equation at 4,000 random points, which contains
// second derivatives of the network, plus the error of the initial and boundary values. It is minimised with
// 6,000 steps of L-BFGS. Expected: a relative L2 error of at most 3 % (0.2 to 1.6 % were reached), in 3 min
// on two cores. The short form takes 4 s. The solution forms a front at x = 0, which is steeper for a smaller
// viscosity v. The paper uses v = 0.01 / pi.
#include <ebb/watch.h>

#include "common/output.h"
#include "common/program.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;
using ebb::watch::Figure;

constexpr double kPi = std::numbers::pi;

// Returns the exact solution by the Cole-Hopf transformation: a quotient of two integrals over a Gaussian,
// computed with the trapezoidal rule, which converges fast for such integrands.
double exact(double t, double x, double viscosity) {
  if (t == 0) return -std::sin(kPi * x);
  constexpr double kReach = 12, kStep = 0.01;
  const double width = std::sqrt(4 * viscosity * t);
  double above = 0, below = 0;
  for (double z = -kReach; z <= kReach; z += kStep) {
    const double y = x - width * z;
    const double weight = std::exp(-(1 + std::cos(kPi * y)) / (2 * kPi * viscosity) - z * z);
    above -= std::sin(kPi * y) * weight;
    below += weight;
  }
  return above / below;
}

struct Problem {
  Tensor t, x;                  // the points of the residual, [n, 1]
  Tensor edge_t, edge_x, edge;  // the points and values of the initial and boundary conditions
};

Problem sample(std::int64_t inside, std::int64_t on_edges, ebb::Device device) {
  const Tensor zero = ebb::zeros({on_edges, 1}), start_x = ebb::rand({on_edges, 1}) * 2 - 1;
  const Tensor side = ebb::rand({on_edges, 1}).round() * 2 - 1;
  return {ebb::rand({inside, 1}).to(device).requires_grad_(),
          (ebb::rand({inside, 1}) * 2 - 1).to(device).requires_grad_(),
          ebb::cat({zero, ebb::rand({on_edges, 1})}).to(device), ebb::cat({start_x, side}).to(device),
          ebb::cat({-ebb::sin(start_x * kPi), zero}).to(device)};
}

Tensor u_of(nn::Sequential& net, const Tensor& t, const Tensor& x) {
  return net->forward(ebb::cat({t, x}, 1));
}

// Returns dy/dx. Row i of y must depend only on row i of x. With create_graph, the result can be
// differentiated again.
Tensor derivative(const Tensor& y, const Tensor& x) {
  return ebb::autograd::grad({y.sum()}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
}

Tensor loss_of(nn::Sequential& net, const Problem& p, double viscosity) {
  const Tensor u = u_of(net, p.t, p.x);
  const Tensor u_t = derivative(u, p.t), u_x = derivative(u, p.x), u_xx = derivative(u_x, p.x);
  const Tensor residual = u_t + u * u_x - viscosity * u_xx;
  return residual.square().mean() + (u_of(net, p.edge_t, p.edge_x) - p.edge).square().mean();
}

nn::Sequential network(std::int64_t layers, std::int64_t width) {
  nn::Sequential net;
  for (std::int64_t i = 0; i < layers; ++i) {
    nn::Linear linear(i == 0 ? 2 : width, width);
    nn::init::xavier_normal_(linear->weight);
    net->push_back(linear);
    net->push_back(nn::Tanh());
  }
  net->push_back(nn::Linear(width, 1));
  return net;
}

int solve(const example::Settings& settings, std::int64_t steps, std::int64_t points, double viscosity) {
  const bool brief = settings.brief;
  if (!steps) steps = brief ? 800 : 6000;
  if (!points) points = brief ? 1000 : 4000;
  if (viscosity == 0) viscosity = (brief ? 0.1 : 0.01) / kPi;
  nn::Sequential net = network(brief ? 4 : 8, 20);
  net->to(settings.device);
  const Problem problem = sample(points, points / 20, settings.device);

  // Each step uses all points, so that L-BFGS can estimate the curvature from the gradients.
  ebb::optim::LBFGS optimizer(net->parameters(), ebb::optim::LBFGSOptions(1)
                                                     .max_iter(50)
                                                     .history_size(50)
                                                     .tolerance_grad(1e-9)
                                                     .tolerance_change(0)
                                                     .line_search_fn("strong_wolfe"));
  std::vector<double> losses;
  ebb::watch::Progress bar("solving", {steps});
  for (std::int64_t done = 0; done < steps; done += 50) {
    const Tensor loss = optimizer.step([&] {
      optimizer.zero_grad();
      Tensor each = loss_of(net, problem, viscosity);
      each.backward();
      losses.push_back(each.item<double>());
      return each;
    });
    settings.report().add_scalar("loss", loss, done);
    bar.set("loss", loss).advance(50);
  }
  bar.finish();

  // Computes the relative error on a grid, and draws the solution at several times.
  constexpr std::int64_t times = 21, positions = 201;
  const ebb::NoGradGuard no_grad;
  Figure chart("Burgers' equation: the network and the exact solution", "x", "u");
  std::vector<double> exact_x, exact_u;
  double difference = 0, norm = 0;
  for (std::int64_t i = 0; i < times; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(times - 1);
    const Tensor x = ebb::linspace(-1, 1, positions).unsqueeze(1);
    const Tensor u = u_of(net, ebb::full({positions, 1}, t).to(settings.device), x.to(settings.device)).cpu();
    const std::vector<double> xs = example::numbers(x), found = example::numbers(u);
    for (std::size_t j = 0; j < xs.size(); ++j) {
      const double right = exact(t, xs[j], viscosity);
      difference += std::pow(found[j] - right, 2);
      norm += std::pow(right, 2);
      if (i % 5 != 0 || j % 8 != 0) continue;
      exact_x.push_back(xs[j]);
      exact_u.push_back(right);
    }
    if (i % 5 == 0) chart.line("t = " + std::to_string(t).substr(0, 4), xs, found);
  }
  settings.draw("pinn.svg", chart.points("exact", exact_x, exact_u));
  settings.draw("pinn_loss.svg",
                Figure("Burgers' equation", "evaluation", "loss").line("loss", losses).logarithmic_y());
  return example::at_most("relative L2 error against the exact solution", std::sqrt(difference / norm),
                          brief ? 0.01 : 0.03);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Solves Burgers' equation with a physics-informed neural network.");
  std::int64_t steps = 0, points = 0;
  double viscosity = 0;
  program.option("--steps", steps, "steps of L-BFGS (default: 6000, with --short 800)");
  program.option("--points", points, "points of the residual (default: 4000, with --short 1000)");
  program.option("--viscosity", viscosity, "viscosity v (default: 0.01 / pi, with --short 0.1 / pi)");
  return program.run(argc, argv, [&](const example::Settings& settings) {
    return solve(settings, steps, points, viscosity);
  });
}
