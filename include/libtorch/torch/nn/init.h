// Initial values.
#pragma once

#include <ebb/nn/init.h>
#include <torch/csrc/namespaces.h>
