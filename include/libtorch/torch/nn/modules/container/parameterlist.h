// Containers: parameterlist.
#pragma once

#include <ebb/nn/modules/container.h>
#include <torch/csrc/namespaces.h>
