// A tour of autograd: the graph and the gradients of y = mean((x + 2)^2 + 3). It takes 1 s.
#include "common/program.h"

#include <iostream>

namespace {

int tour(const example::Settings& settings) {
  using namespace ebb;

  // x is a leaf: backward() computes the gradient with respect to it.
  Variable x = tensor({1.0f, 2.0f, 3.0f}).to(settings.device).requires_grad_();
  std::cout << "x = " << x << "\n\n";

  // Every op on x records a node of the graph.
  Variable a = x + 2;
  Variable b = a * a;
  Variable c = b + 3;
  Variable y = c.mean();
  std::cout << "a = x + 2    = " << a << "\nb = a * a    = " << b << "\nc = b + 3    = " << c
            << "\ny = c.mean() = " << y << "\n\n";

  // The graph leads from the result back to the leaf.
  const std::string text = autograd::to_text(y, {{"x", x}}), dot = autograd::to_dot(y, {{"x", x}});
  std::cout << "The graph, as text:\n"
            << text << "\nfor Graphviz (| dot -Tsvg > graph.svg):\n"
            << dot << '\n';
  settings.report().add_text("graph", text);

  // backward() traverses the graph: dy/dx = 2 (x + 2) / 3.
  y.backward();
  std::cout << "y.item()  = " << y.item<float>() << "\nx.grad()  = " << x.grad() << "\n\n";

  // With create_graph, gradients can be differentiated again: the third derivative of z^3 is 6.
  Variable z = tensor({2.0}, kFloat64).to(settings.device).requires_grad_();
  Variable first = autograd::grad({z.pow(3)}, {z}, {}, true, true)[0];
  Variable second = autograd::grad({first}, {z}, {}, true, true)[0];
  Variable third = autograd::grad({second}, {z})[0];
  std::cout << "z^3 at 2: first " << first.item<double>() << ", second " << second.item<double>()
            << ", third " << third.item<double>() << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return example::Program("Shows the graph and the gradients of a function.").run(argc, argv, tour);
}
