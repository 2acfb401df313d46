// Short descriptions of tensors and nodes, for messages and streams.
#include <ebb/autograd/node.h>
#include <ebb/autograd/variable.h>

#include <ostream>

namespace ebb {

void append_text(std::string& out, const Variable& x) {
  if (!x.defined()) {
    out += "an undefined tensor";
    return;
  }
  append_text(out, x.dtype());
  append_text(out, x.sizes());
  out += " on ";
  append_text(out, x.device());
}

std::ostream& autograd::operator<<(std::ostream& out, const Ref<Node>& node) {
  if (!node) return out << "None";
  return out << '<' << node->name() << " object at " << static_cast<const void*>(node.get()) << '>';
}

std::string Variable::toString() const {
  if (!defined()) return "UndefinedType";
  return (is_cuda() ? "CUDA" : "CPU") + (ebb::to_string(dtype()) + std::string("Type"));
}

}  // namespace ebb
