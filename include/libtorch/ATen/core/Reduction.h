// How losses are reduced.
#pragma once

#include <ebb/ops/loss.h>
#include <torch/csrc/namespaces.h>
