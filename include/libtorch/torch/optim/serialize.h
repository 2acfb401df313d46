// Optimizers in files.
#pragma once

#include <ebb/serialize.h>
#include <torch/csrc/namespaces.h>
