// Access to elements.
#pragma once

#include <ebb/autograd/accessor.h>
#include <torch/csrc/namespaces.h>
