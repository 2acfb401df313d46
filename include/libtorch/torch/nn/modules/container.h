// Containers.
#pragma once

#include <ebb/nn/modules/container.h>
#include <ebb/nn/modules/sequential.h>
#include <torch/csrc/namespaces.h>
