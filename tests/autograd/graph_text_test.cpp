// Graph nodes in the public interface, and the text of graphs.
#include <ebb/autograd/graph.h>
#include <ebb/ebb.h>

#include "autograd/semantics.h"
#include "support/catch.h"

#include <memory>
#include <sstream>

// The text of a graph: each node once, with its constants in the order in which they were saved.

using namespace semantics;
using ebb::autograd::to_dot;
using ebb::autograd::to_text;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

struct KeepsTwo : Function<KeepsTwo> {
  static Variable forward(AutogradContext* ctx, Variable x, Variable first, Variable second) {
    ctx->save_for_backward({first, second});
    return x * 1;
  }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0], {}, {}}; }
};

}  // namespace

TEST_CASE("to_text writes a shared node once") {
  const Variable x = leaf({1, 2});
  const Variable shared = x.exp();
  const std::string text = to_text(shared + shared.sin(), {{"x", x}});
  REQUIRE(text ==
          "#0 AddBackward0 [2]\n"
          "  #1 ExpBackward0 [2]\n"
          "    #2 x [2]\n"
          "  #3 SinBackward0 [2]\n"
          "    #1 ExpBackward0 [2] (above)\n");
}

TEST_CASE("to_dot draws a shared node once") {
  const Variable x = leaf({1, 2});
  const Variable shared = x.exp();
  const std::string dot = to_dot(shared + shared.sin(), {{"x", x}});
  for (const char* label : {"AddBackward0 [2]", "ExpBackward0 [2]", "SinBackward0 [2]", "x [2]"}) {
    INFO(label);
    REQUIRE(count(dot, std::string("[label=\"") + label + "\"") == 1);
  }
  REQUIRE(count(dot, " -> ") == 5);  // each edge once, and the one to the root
}

TEST_CASE("to_text and to_dot list the constants of a node in the order in which it saved them") {
  const Variable x = leaf({1, 2}), a = ebb::ones({3}, ebb::kFloat64), b = ebb::ones({4}, ebb::kFloat64);
  const Variable y = KeepsTwo::apply(x, a, b);
  for (const std::string& drawing : {to_text(y, {{"a", a}, {"b", b}}), to_dot(y, {{"a", a}, {"b", b}})}) {
    const std::size_t first = drawing.find("a [3]"), second = drawing.find("b [4]");
    REQUIRE(first != std::string::npos);
    REQUIRE(second != std::string::npos);
    REQUIRE(first < second);
  }
}

// Graph nodes in the public interface: pointers and printing.

using namespace ebb;

TEST_CASE("grad_fn can be stored in a shared_ptr") {
  const auto nodes = live_node_count();
  {
    std::shared_ptr<autograd::Node> node;
    {
      const Tensor x = ones({2}).requires_grad_(), y = x * 2;
      const auto same = y.grad_fn();
      node = y.grad_fn();
      CHECK(same->name() == "MulBackward1");
      CHECK(y.grad_fn() == node);
      CHECK(node == y.grad_fn());
      std::shared_ptr<autograd::Node> none = x.grad_fn();
      CHECK(none == nullptr);
    }
    CHECK(node->name() == "MulBackward1");
    CHECK(node->next_edge(0).function->name() == "AccumulateGrad");
    const std::shared_ptr<autograd::Node> next = node->next_edge(0).function;
    CHECK(next.get() == node->next_edge(0).function.get());
    CHECK(live_node_count() > nodes);
  }
  CHECK(live_node_count() == nodes);
}

TEST_CASE("a node is printed as its name and address") {
  const Tensor x = ones({2}).requires_grad_(), y = x * 2;
  std::ostringstream out, none;
  out << y.grad_fn();
  none << x.grad_fn();
  CHECK(out.str().rfind("<MulBackward1 object at 0x", 0) == 0);
  CHECK(none.str() == "None");
}

TEST_CASE("grad mode and inference mode also have guards in namespace autograd") {
  CHECK(autograd::GradMode::is_enabled());
  {
    autograd::AutoGradMode off(false);
    CHECK_FALSE(autograd::GradMode::is_enabled());
  }
  autograd::InferenceMode inference;
  CHECK(autograd::InferenceMode::is_enabled());
}
