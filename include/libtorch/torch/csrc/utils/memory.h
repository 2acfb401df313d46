// torch::make_unique.
#pragma once

#include <torch/csrc/namespaces.h>

#include <memory>

namespace ebb {
using std::make_unique;
}
