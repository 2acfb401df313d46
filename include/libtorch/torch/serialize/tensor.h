// Tensors in archives.
#pragma once

#include <ebb/serialize.h>
#include <torch/csrc/namespaces.h>
