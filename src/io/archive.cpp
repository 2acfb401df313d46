// OutputArchive and InputArchive: trees of named tensors and values, and their files and streams.
#include <ebb/archive.h>
#include <ebb/autograd/function.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/io/safetensors.h>
#include <ebb/ops/creation.h>

#include "core/messages.h"
#include "io/any_file.h"
#include "io/safetensors_format.h"
#include "io/shared_tensors.h"

#include <algorithm>
#include <cstring>
#include <istream>
#include <numeric>
#include <ostream>
#include <sstream>
#include <streambuf>
#include <unordered_set>

namespace ebb::serialize {
namespace {

std::vector<std::string> names_of(const safetensors::NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& item : tensors) names.push_back(item.first);
  return names;
}

}  // namespace

void OutputArchive::write(const std::string& key, const Variable& tensor, bool) {
  tensors_.emplace_back(key, tensor.detach());
}
void OutputArchive::write(const std::string& key, const OutputArchive& nested) {
  for (const auto& [name, tensor] : nested.tensors_) tensors_.emplace_back(key + "." + name, tensor);
}
void OutputArchive::save_to(const std::string& path) const {
  const safetensors::Contents contents = safetensors::each_once(tensors_);
  safetensors::write(path, contents.tensors, contents.metadata);
}
void OutputArchive::save_to(std::ostream& stream) const {
  const safetensors::Contents contents = safetensors::each_once(tensors_);
  safetensors::write(stream, contents.tensors, contents.metadata);
}

void InputArchive::load_from(const std::string& path, optional<Device> device) {
  safetensors::File file = io::read_any(path);
  device_ = device;
  take(safetensors::every_name(std::move(file.tensors), file.metadata), std::move(file.unsupported));
}
void InputArchive::load_from(std::istream& stream, optional<Device> device) {
  safetensors::File file = io::read_any(stream);
  device_ = device;
  take(safetensors::every_name(std::move(file.tensors), file.metadata), std::move(file.unsupported));
}

void InputArchive::take(Tensors tensors, std::map<std::string, std::string> unsupported) {
  tensors_ = std::move(tensors);
  unsupported_ = std::move(unsupported);
  by_name_.resize(tensors_.size());
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::sort(by_name_.begin(), by_name_.end(),
            [&](std::size_t a, std::size_t b) { return tensors_[a].first < tensors_[b].first; });
}

std::vector<std::size_t>::const_iterator InputArchive::first_not_before(const std::string& name) const {
  return std::lower_bound(by_name_.begin(), by_name_.end(), name,
                          [&](std::size_t i, const std::string& n) { return tensors_[i].first < n; });
}

bool InputArchive::try_read(const std::string& key, Variable& tensor, bool) {
  if (const auto found = unsupported_.find(key); found != unsupported_.end())
    ebb::detail::fail("InputArchive: tensor \"", key, "\"", safetensors::unsupported_text(found->second));
  const auto at = first_not_before(key);
  if (at == by_name_.end() || tensors_[*at].first != key) return false;
  const Variable& found = tensors_[*at].second;
  NoGradGuard no_grad;
  const Device device = device_.value_or(tensor.defined() ? tensor.device() : found.device());
  const Variable copy = found.to(device, found.dtype(), false, /*copy=*/true);
  if (tensor.defined())
    tensor.set_data(copy);
  else
    tensor = copy;
  return true;
}
void InputArchive::read(const std::string& key, Variable& tensor, bool is_buffer) {
  EBB_CHECK(try_read(key, tensor, is_buffer), "InputArchive: there is no tensor \"", key, "\"",
            ebb::detail::near_names(key, names_of(tensors_)), ".");
}

bool InputArchive::try_read(const std::string& key, InputArchive& nested) {
  const std::string prefix = key + ".";
  std::vector<std::size_t> positions;
  for (auto at = first_not_before(prefix); at != by_name_.end() && tensors_[*at].first.starts_with(prefix);
       ++at)
    positions.push_back(*at);
  std::sort(positions.begin(), positions.end());  // restores the order of the file
  Tensors inside;
  for (const std::size_t i : positions)
    inside.emplace_back(tensors_[i].first.substr(prefix.size()), tensors_[i].second);
  std::map<std::string, std::string> unsupported;
  for (auto at = unsupported_.lower_bound(prefix); at != unsupported_.end() && at->first.starts_with(prefix);
       ++at)
    unsupported.emplace(at->first.substr(prefix.size()), at->second);
  if (inside.empty() && unsupported.empty()) return false;
  nested.take(std::move(inside), std::move(unsupported));
  nested.device_ = device_;
  return true;
}
void InputArchive::read(const std::string& key, InputArchive& nested) {
  EBB_CHECK(try_read(key, nested), "InputArchive: there is no archive \"", key, "\"",
            ebb::detail::near_names(key, keys()), ".");
}

std::vector<std::string> InputArchive::keys() const {
  std::vector<std::string> keys;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& name) {
    std::string key = name.substr(0, name.find('.'));
    if (seen.insert(key).second) keys.push_back(std::move(key));
  };
  for (const auto& item : tensors_) add(item.first);
  for (const auto& item : unsupported_) add(item.first);
  return keys;
}

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

namespace {

// A stream buffer that stores nothing: it passes all bytes directly to the function.
class WriteBuffer : public std::streambuf {
 public:
  explicit WriteBuffer(const WriteFunction& write) : write_(write) {}

 protected:
  std::streamsize xsputn(const char* data, std::streamsize size) override {
    const auto bytes = static_cast<std::size_t>(size);
    const std::size_t taken = write_(data, bytes);
    EBB_CHECK(taken == bytes, "save: the function that writes took ", std::uint64_t{taken}, " of ",
              std::uint64_t{bytes}, " bytes.");
    return size;
  }
  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    return xsputn(&byte, 1), c;
  }

 private:
  const WriteFunction& write_;
};

}  // namespace

namespace detail {

void with_stream(const WriteFunction& write, const std::function<void(std::ostream&)>& body) {
  WriteBuffer buffer(write);
  std::ostream stream(&buffer);
  stream.exceptions(std::ios::badbit);  // so that the stream does not catch the function's exceptions
  body(stream);
}

void with_stream(const ReadFunction& read, const SizeFunction& size,
                 const std::function<void(std::istream&)>& body) {
  std::string bytes(size(), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t more = read(at, bytes.data() + at, bytes.size() - at);
    EBB_CHECK(more > 0 && more <= bytes.size() - at, "load: the function that reads gave ",
              std::uint64_t{more}, " bytes at position ", std::uint64_t{at}, " of ",
              std::uint64_t{bytes.size()}, ".");
    at += more;
  }
  std::istringstream stream(std::move(bytes));
  body(stream);
}

void with_stream(const char* data, std::size_t size, const std::function<void(std::istream&)>& body) {
  std::istringstream stream(std::string(data, size));
  body(stream);
}

}  // namespace detail

void OutputArchive::save_to(const WriteFunction& write) const {
  detail::with_stream(write, [this](std::ostream& stream) { save_to(stream); });
}
void InputArchive::load_from(const char* data, std::size_t size, optional<Device> device) {
  detail::with_stream(data, size, [&](std::istream& stream) { load_from(stream, device); });
}
void InputArchive::load_from(const ReadFunction& read, const SizeFunction& size, optional<Device> device) {
  detail::with_stream(read, size, [&](std::istream& stream) { load_from(stream, device); });
}

}  // namespace ebb::serialize
