// What rows of losses share.
#pragma once

#include "optable/reference.h"

namespace optable {

/// A row whose outputs are f with Reduction::None, Sum and Mean; what is composed of several ops rounds as
/// often.
Row& loss(std::string name, std::function<Variable(In, std::int64_t reduction)> f);

/// The same of a reference: values, their sum, and the sum divided by `weight`, or by how many they are.
Arrays reduced(const Array& values, double weight = 0);

}  // namespace optable
