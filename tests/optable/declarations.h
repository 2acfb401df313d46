// The functions a public header declares, by a scan of its text.
#pragma once

#include <string>
#include <vector>

#include "lint/tree.h"

namespace optable {

struct Declaration {
  std::string name;
  std::string calls;  // what the body of an inline function returns a call of; empty without a body
  std::string where;
};

/// Functions marked EBB_API or inline, at namespace scope; no operators, classes or bodies of methods.
std::vector<Declaration> declarations(const lint::File& file);

/// The methods that a header of include/ebb/methods declares, by itself or by a list of names.
std::vector<std::string> methods(const lint::File& file);

}  // namespace optable
