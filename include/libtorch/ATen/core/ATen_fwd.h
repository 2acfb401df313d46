// Names of types.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/dtype.h>
#include <ebb/fwd.h>
#include <torch/csrc/namespaces.h>
