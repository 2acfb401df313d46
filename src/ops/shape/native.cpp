// native_channel_shuffle, ATen's name for channel_shuffle.
#include <ebb/ops/shape.h>

namespace ebb {

Variable native_channel_shuffle(const Variable& self, std::int64_t groups) {
  return channel_shuffle(self, groups);
}

}  // namespace ebb
