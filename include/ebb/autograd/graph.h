// to_text and to_dot: print the autograd graph.
#pragma once

#include <ebb/autograd/variable.h>

#include <string>
#include <utility>
#include <vector>

namespace ebb::autograd {

/// Names of tensors in the printed graph: {{"x", x}, {"weight", w}}.
using GraphNames = std::vector<std::pair<std::string, Variable>>;

/// Returns the graph below `root` as an indented tree: each node with the shape of its output, and leaves and
/// saved constants by name. A node that is reached several times is printed once. Later occurrences print
/// only its number.
EBB_API std::string to_text(const Variable& root, const GraphNames& names = {});
/// Returns the graph in Graphviz's DOT language, for `dot -Tsvg`. Leaves are boxes. Constants saved for
/// backward are dashed.
EBB_API std::string to_dot(const Variable& root, const GraphNames& names = {});

}  // namespace ebb::autograd
