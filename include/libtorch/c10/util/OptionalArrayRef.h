// OptionalArrayRef.
#pragma once

#include <ebb/core/array_ref.h>
#include <torch/csrc/namespaces.h>
