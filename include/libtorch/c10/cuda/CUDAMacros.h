// What marks visible symbols.
#pragma once

#include <c10/macros/Export.h>
#include <torch/csrc/namespaces.h>
