// Archives.
#pragma once

#include <ATen/core/ivalue.h>
#include <ebb/archive.h>
#include <torch/csrc/namespaces.h>
