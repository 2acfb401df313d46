// What marks visible symbols.
#pragma once

#include <c10/macros/Macros.h>
#include <torch/csrc/namespaces.h>
