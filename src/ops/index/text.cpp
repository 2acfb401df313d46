// operator<< of indices.
#include <ebb/ops/index/indexing.h>

#include <ostream>

namespace ebb::indexing {

std::ostream& operator<<(std::ostream& out, const Slice& slice) {
  return out << slice.start() << ":" << slice.stop() << ":" << slice.step();
}

std::ostream& operator<<(std::ostream& out, const TensorIndex& index) {
  if (index.is_none()) return out << "None";
  if (index.is_ellipsis()) return out << "...";
  if (index.is_integer()) return out << index.integer();
  if (index.is_boolean()) return out << (index.boolean() ? "true" : "false");
  if (index.is_slice()) return out << index.slice();
  return out << index.tensor();
}

std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices) {
  const char* before = "(";
  for (const TensorIndex& index : indices) {
    out << before << index;
    before = ", ";
  }
  return out << (indices.empty() ? "()" : ")");
}

}  // namespace ebb::indexing
