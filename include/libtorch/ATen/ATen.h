// Tensors and the functions on them.
#pragma once

#include <ATen/Context.h>
#include <ATen/Device.h>
#include <ATen/DeviceGuard.h>
#include <ATen/DimVector.h>
#include <ATen/Dispatch.h>
#include <ATen/Formatting.h>
#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/ScalarOps.h>
#include <ATen/Tensor.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOptions.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/Storage.h>
#include <c10/util/Exception.h>
#include <c10/util/irange.h>
#include <torch/csrc/namespaces.h>
