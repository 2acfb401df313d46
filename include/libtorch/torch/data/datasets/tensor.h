// Datasets: tensor.
#pragma once

#include <ebb/data.h>
#include <torch/csrc/namespaces.h>
