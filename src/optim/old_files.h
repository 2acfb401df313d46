// Optimizers in files of libtorch before 1.5.
#pragma once

#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// The state that such a file holds, under the names of state_dict(), with a warning; anything else as it is.
/// Those files hold a list over all parameters for each quantity ("momentum_buffers/3"), and no options.
Optimizer::StateDict from_old_file(Optimizer::StateDict state);

}  // namespace ebb::optim
