// Lists of sizes.
#pragma once

#include <c10/core/SymInt.h>
#include <torch/csrc/namespaces.h>
