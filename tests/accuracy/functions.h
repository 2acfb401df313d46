// The exact functions behind the pointwise rows of the op table.
#pragma once

#include "accuracy/jet.h"

#include <functional>
#include <map>
#include <set>
#include <string>

namespace accuracy {

/// A function of one or two numbers; of one, the second argument is not used.
using Exact = std::function<Jet(const Jet& a, const Jet& b)>;

/// By the names of the op table's rows.
const std::map<std::string, Exact>& functions();

/// The pointwise rows that round nothing, or are other rows with an option: the op table compares them
/// exactly.
const std::set<std::string>& unrounded();

}  // namespace accuracy
