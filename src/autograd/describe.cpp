// Short descriptions of tensors for messages.
#include <ebb/autograd/variable.h>

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

std::string Variable::toString() const {
  if (!defined()) return "UndefinedType";
  return (is_cuda() ? "CUDA" : "CPU") + (ebb::to_string(dtype()) + std::string("Type"));
}

}  // namespace ebb
