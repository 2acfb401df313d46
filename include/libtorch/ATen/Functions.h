// The functions on tensors.
#pragma once

#include <ebb/ebb.h>
#include <ebb/ops/factories.h>
#include <ebb/ops/out.h>
#include <torch/csrc/namespaces.h>
