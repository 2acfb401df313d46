// Generators.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <torch/csrc/namespaces.h>
