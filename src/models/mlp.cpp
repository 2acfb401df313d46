// MLP: the multi-layer perceptron.
#include <ebb/models/mlp.h>

namespace ebb::models {

MLPImpl::MLPImpl(const std::vector<std::int64_t>& widths, double dropout) {
  EBB_CHECK(widths.size() >= 2, "MLP: needs at least the widths of its input and its output, got ",
            widths.size());
  for (std::size_t i = 1; i < widths.size(); ++i) {
    push_back(nn::Linear(widths[i - 1], widths[i]));
    if (i + 1 == widths.size()) break;
    push_back(nn::ReLU());
    if (dropout > 0) push_back(nn::Dropout(dropout));
  }
}

}  // namespace ebb::models
