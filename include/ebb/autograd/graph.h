// Looking at the graph.
#pragma once

#include <ebb/autograd/variable.h>

#include <string>
#include <utility>
#include <vector>

namespace ebb::autograd {

/// Names for tensors in a drawing: {{"x", x}, {"weight", w}}.
using GraphNames = std::vector<std::pair<std::string, Variable>>;

/// The graph below `root` as an indented tree: each node with the shape of its output, leaves and saved
/// constants by name. A node reached twice is drawn once and referred to by its number.
EBB_API std::string to_text(const Variable& root, const GraphNames& names = {});
/// The same in Graphviz's DOT language: `dot -Tsvg`. Leaves are boxes, constants that backward keeps are
/// dashed.
EBB_API std::string to_dot(const Variable& root, const GraphNames& names = {});

}  // namespace ebb::autograd
