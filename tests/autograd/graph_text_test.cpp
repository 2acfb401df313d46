// How drawings show a graph: each node once, and its constants in the order in which they were kept.
#include <ebb/autograd/graph.h>

#include "autograd/semantics.h"

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

TEST_CASE("a node reached twice is drawn once, in text") {
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

TEST_CASE("a node reached twice is drawn once, in DOT") {
  const Variable x = leaf({1, 2});
  const Variable shared = x.exp();
  const std::string dot = to_dot(shared + shared.sin(), {{"x", x}});
  for (const char* label : {"AddBackward0 [2]", "ExpBackward0 [2]", "SinBackward0 [2]", "x [2]"}) {
    INFO(label);
    REQUIRE(count(dot, std::string("[label=\"") + label + "\"") == 1);
  }
  REQUIRE(count(dot, " -> ") == 5);  // each edge once, and the one to the root
}

TEST_CASE("the constants of a node are drawn in the order in which it kept them") {
  const Variable x = leaf({1, 2}), a = ebb::ones({3}, ebb::kFloat64), b = ebb::ones({4}, ebb::kFloat64);
  const Variable y = KeepsTwo::apply(x, a, b);
  for (const std::string& drawing : {to_text(y, {{"a", a}, {"b", b}}), to_dot(y, {{"a", a}, {"b", b}})}) {
    const std::size_t first = drawing.find("a [3]"), second = drawing.find("b [4]");
    REQUIRE(first != std::string::npos);
    REQUIRE(second != std::string::npos);
    REQUIRE(first < second);
  }
}
