// c10::MaybeOwned.
#pragma once

#include <ebb/ebb.h>
#include <torch/csrc/namespaces.h>
