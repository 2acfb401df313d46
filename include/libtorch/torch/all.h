// All headers of libtorch that ebb has.
#pragma once

#include <torch/arg.h>
#include <torch/autograd.h>
#include <torch/csrc/namespaces.h>
#include <torch/cuda.h>
#include <torch/data.h>
#include <torch/enum.h>
#include <torch/fft.h>
#include <torch/linalg.h>
#include <torch/mps.h>
#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/serialize.h>
#include <torch/special.h>
#include <torch/types.h>
#include <torch/utils.h>
#include <torch/version.h>
