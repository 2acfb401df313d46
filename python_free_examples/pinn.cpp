// A physics-informed network (Raissi, Perdikaris, Karniadakis 2019) that solves Burgers' equation: nothing is
// given but the equation, where the solution starts, and that it is 0 at both ends.
//     u_t + u u_x = v u_xx,   u(0, x) = -sin(pi x),   u(t, -1) = u(t, 1) = 0
// The less viscosity v, the steeper the front that forms at x = 0; the paper's is 0.01 / pi.
#include <ebb/ebb.h>

#include "common/chart.h"
#include "common/program.h"
#include "common/progress.h"

#include <cmath>
#include <numbers>
#include <vector>

namespace {

namespace nn = ebb::nn;
using ebb::Tensor;

constexpr double kPi = std::numbers::pi;

// The solution by the transformation of Cole and Hopf: a quotient of two integrals over a Gaussian, here by
// the trapezoidal rule, which converges fast for such integrands.
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
  Tensor t, x;                  // where the equation must hold, [n, 1]
  Tensor edge_t, edge_x, edge;  // where the solution is known
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

// d y/d x where each row of y depends on its own row of x alone, to be differentiated further.
Tensor slope(const Tensor& y, const Tensor& x) {
  return ebb::autograd::grad({y.sum()}, {x}, {}, true, true)[0];
}

Tensor loss_of(nn::Sequential& net, const Problem& p, double viscosity) {
  const Tensor u = u_of(net, p.t, p.x);
  const Tensor u_t = slope(u, p.t), u_x = slope(u, p.x), u_xx = slope(u_x, p.x);
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

  // All of the data in every step, and a method that learns the curvature from gradients.
  ebb::optim::LBFGS optimizer(net->parameters(), ebb::optim::LBFGSOptions(1)
                                                     .max_iter(50)
                                                     .history_size(50)
                                                     .tolerance_grad(1e-9)
                                                     .tolerance_change(0)
                                                     .line_search_fn("strong_wolfe"));
  std::vector<double> losses;
  example::Progress progress("solving", steps, "steps");
  for (std::int64_t done = 0; done < steps; done += 50) {
    const Tensor loss = optimizer.step([&] {
      optimizer.zero_grad();
      Tensor each = loss_of(net, problem, viscosity);
      each.backward();
      losses.push_back(each.item<double>());
      return each;
    });
    progress.advance(50, loss.item<double>());
  }
  progress.finish("residual " + std::to_string(losses.back()));

  // The error on a grid, relative to the solution; some moments as pictures.
  const std::int64_t moments = 21, places = 201;
  const ebb::NoGradGuard no_grad;
  example::Chart chart("Burgers' equation: the network and the exact solution", "x", "u");
  std::vector<double> exact_x, exact_u;
  double difference = 0, norm = 0;
  for (std::int64_t i = 0; i < moments; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(moments - 1);
    const Tensor x = ebb::linspace(-1, 1, places).unsqueeze(1);
    const Tensor u = u_of(net, ebb::full({places, 1}, t).to(settings.device), x.to(settings.device)).cpu();
    std::vector<double> xs, found, right;
    for (std::int64_t j = 0; j < places; ++j) {
      xs.push_back(x[j].item<double>());
      found.push_back(u[j].item<double>());
      right.push_back(exact(t, xs.back(), viscosity));
      difference += std::pow(found.back() - right.back(), 2);
      norm += std::pow(right.back(), 2);
    }
    if (i % 5 == 0) chart.line("t = " + std::to_string(t).substr(0, 4), xs, found);
    for (std::size_t j = 0; i % 5 == 0 && j < xs.size(); j += 8) {
      exact_x.push_back(xs[j]);
      exact_u.push_back(right[j]);
    }
  }
  chart.points("exact", exact_x, exact_u);
  chart.write(settings.path("pinn.svg"));
  example::Chart("Burgers' equation", "evaluation", "loss")
      .line("loss", losses)
      .logarithmic()
      .write(settings.path("pinn_loss.svg"));
  return example::at_most("relative L2 error against the exact solution", std::sqrt(difference / norm),
                          brief ? 0.01 : 0.03);
}

}  // namespace

int main(int argc, char** argv) {
  example::Program program("Solves Burgers' equation by a physics-informed network.");
  std::int64_t steps = 0, points = 0;
  double viscosity = 0;
  program.option("--steps", steps, "of L-BFGS (default: 6000, with --short 800)");
  program.option("--points", points, "where the equation is to hold (default: 4000, with --short 1000)");
  program.option("--viscosity", viscosity, "(default: 0.01 / pi, with --short 0.1 / pi)");
  return program.run(argc, argv, [&](const example::Settings& settings) {
    return solve(settings, steps, points, viscosity);
  });
}
