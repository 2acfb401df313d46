// The exact functions of the pointwise rows of the op table.
#pragma once

#include "accuracy/jet.h"

#include <functional>
#include <map>
#include <set>
#include <string>

namespace accuracy {

/// A function of one or two numbers; a function of one ignores the second argument.
using Exact = std::function<Jet(const Jet& a, const Jet& b)>;

/// Returns the functions by the names of the rows of the op table.
const std::map<std::string, Exact>& functions();

/// Returns the pointwise rows that do not round, or that are other rows with an option: the op table compares
/// them exactly.
const std::set<std::string>& unrounded();

}  // namespace accuracy
