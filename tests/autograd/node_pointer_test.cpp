// Nodes of the graph as programs hold and print them.
#include <ebb/ebb.h>

#include <memory>
#include <sstream>

#include "support/catch.h"

using namespace ebb;

TEST_CASE("a node is held by a shared_ptr where a program wants one") {
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

TEST_CASE("a node prints its name and address") {
  const Tensor x = ones({2}).requires_grad_(), y = x * 2;
  std::ostringstream out, none;
  out << y.grad_fn();
  none << x.grad_fn();
  CHECK(out.str().rfind("<MulBackward1 object at 0x", 0) == 0);
  CHECK(none.str() == "None");
}

TEST_CASE("the modes have names in the namespace of autograd") {
  CHECK(autograd::GradMode::is_enabled());
  {
    autograd::AutoGradMode off(false);
    CHECK_FALSE(autograd::GradMode::is_enabled());
  }
  autograd::InferenceMode inference;
  CHECK(autograd::InferenceMode::is_enabled());
}
