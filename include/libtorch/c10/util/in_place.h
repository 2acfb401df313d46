// c10::in_place.
#pragma once

#include <c10/util/C++17.h>
#include <torch/csrc/namespaces.h>
