// Training flags of modules, as settings of the program.
#include <ebb/nn/training_flag.h>

#include "core/fingerprint.h"

namespace ebb::nn::detail {

// A flag that is off is a setting, by the number of its address.
void TrainingFlag::flip() noexcept {
  ebb::detail::toggle_setting(reinterpret_cast<std::uintptr_t>(this) + 0x9e3779b97f4a7c15u);
  on_ = !on_;
}

}  // namespace ebb::nn::detail
