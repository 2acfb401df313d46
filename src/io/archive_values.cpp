// Numbers, lists and texts in archives, as tensors.
#include <ebb/archive.h>
#include <ebb/autograd/function.h>
#include <ebb/ops/creation.h>

namespace ebb::serialize {
namespace {

template <class T>
std::vector<T> list_of(const Variable& x) {
  const Variable values = x.cpu().contiguous();
  return std::vector<T>(values.data_ptr<T>(), values.data_ptr<T>() + values.numel());
}

autograd::SavedValue value_of(const Variable& x) {
  if (x.dim() == 0) return x.item();
  if (x.dim() == 1 && x.dtype() == kLong) return list_of<std::int64_t>(x);
  if (x.dim() == 1 && x.dtype() == kDouble) return list_of<double>(x);
  if (x.dim() == 1 && x.dtype() == kByte) {
    const std::vector<std::uint8_t> bytes = list_of<std::uint8_t>(x);
    return std::string(bytes.begin(), bytes.end());
  }
  return x;
}

}  // namespace

void OutputArchive::write(const std::string& key, const autograd::SavedValue& value) {
  EBB_CHECK(!value.isNone(), "OutputArchive: the value of \"", key, "\" is none.");
  if (value.isTensor()) {
    write(key, value.toTensor());
  } else if (value.isString()) {
    const std::string& text = value.toStringRef();
    write(key, tensor(std::vector<std::uint8_t>(text.begin(), text.end())));
  } else if (value.isIntList()) {
    write(key, tensor(value.toIntVector()));
  } else if (value.isDoubleList()) {
    write(key, tensor(value.toDoubleVector(), kDouble));
  } else {
    write(key, scalar_tensor(value.toScalar(), value.toScalar().dtype()));
  }
}

bool InputArchive::try_read(const std::string& key, autograd::SavedValue& value) {
  Variable x;
  const bool found = try_read(key, x);
  if (found) value = value_of(x);
  return found;
}
void InputArchive::read(const std::string& key, autograd::SavedValue& value) {
  Variable x;
  read(key, x);
  value = value_of(x);
}

}  // namespace ebb::serialize
