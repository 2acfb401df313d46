// Generators.
#pragma once

#include <ebb/core/random.h>
#include <torch/csrc/namespaces.h>
