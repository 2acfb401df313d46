// Containers: moduledict.
#pragma once

#include <ebb/nn/modules/container.h>
#include <torch/csrc/namespaces.h>
