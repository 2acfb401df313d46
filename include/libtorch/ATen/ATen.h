// Tensors and the functions on them.
#pragma once

#include <ATen/AccumulateType.h>
#include <ATen/Context.h>
#include <ATen/Dispatch.h>
#include <ATen/Formatting.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/Tensor.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorUtils.h>
#include <ATen/core/DeprecatedTypeProperties.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/ScalarType.h>
#include <c10/core/SymInt.h>
#include <c10/util/C++17.h>
#include <c10/util/Deprecated.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <c10/util/MathConstants.h>
#include <c10/util/MaybeOwned.h>
#include <c10/util/irange.h>
#include <c10/util/string_view.h>
#include <c10/util/typeid.h>
#include <c10/util/variant.h>
#include <torch/csrc/namespaces.h>
#include <torch/csrc/standard.h>
