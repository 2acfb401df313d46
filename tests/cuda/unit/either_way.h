// Checks with and without cuDNN, or with results that repeat bit for bit.
#pragma once

#include <ebb/ebb.h>

#include <functional>

#include "support/catch.h"

namespace ebb::testing {

struct Deterministic {
  Deterministic() { use_deterministic_algorithms(true); }
  ~Deterministic() { use_deterministic_algorithms(false); }
};

// Runs `check` with cuDNN and without.
inline void either_way(const std::function<void()>& check) {
  struct Restore {
    ~Restore() { cuda::enable_cudnn(true); }
  } restore;
  for (const bool on : {true, false}) {
    INFO((on ? "with" : "without") << " cuDNN");
    cuda::enable_cudnn(on);
    check();
  }
}

}  // namespace ebb::testing
