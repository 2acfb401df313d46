// <torch/serialize.h> by its longer name.
#pragma once

#include <torch/csrc/namespaces.h>
#include <torch/serialize.h>
