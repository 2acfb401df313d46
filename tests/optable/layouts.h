// Ways in which the same numbers lie in memory.
#pragma once

#include "optable/table.h"

namespace optable {

struct Layout {
  const char* name;
  Variable (*apply)(const Variable&);
  bool repeats;  // the first slice stands for all: other numbers than before
};
const std::vector<Layout>& layouts();

/// What the row's function gives for these inputs, then their gradients; inputs keep their strides.
variable_list laid_out_results(const Row& row, const variable_list& inputs);

}  // namespace optable
