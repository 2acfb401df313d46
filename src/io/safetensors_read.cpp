// safetensors::File and Reader: read tensors from files, streams and memory.
#include <ebb/autograd/grad_mode.h>
#include <ebb/io/safetensors.h>
#include <ebb/ops/creation.h>

#include "core/messages.h"
#include "io/bytes.h"
#include "io/safetensors_format.h"

#include <algorithm>

namespace ebb::safetensors {

using io::Bytes;
using io::BytesInMemory;
using io::BytesOnDisk;

namespace {

Header header_of(const Bytes& bytes) {
  char frame[kFrame];
  bytes.read(0, frame, std::min<std::uint64_t>(bytes.size(), kFrame));
  std::string text(header_length(frame, bytes.size()), '\0');
  bytes.read(8, text.data(), text.size());
  return parse_header(text.data(), text.size(), bytes.size());
}

void check_bool(const Entry& entry, const void* bytes) {
  if (entry.format->dtype != kBool) return;
  const auto* p = static_cast<const unsigned char*>(bytes);
  if (std::any_of(p, p + (entry.end - entry.begin), [](unsigned char b) { return b > 1; }))
    unsound("tensor \"", entry.name, "\" of dtype BOOL holds a byte other than 0 and 1");
}

}  // namespace

File::File(NamedTensors t, Metadata m, Unsupported u)
    : tensors(std::move(t)), metadata(std::move(m)), unsupported(std::move(u)) {
  index_.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) index_.emplace(tensors[i].first, i);
}

const Variable& File::at(const std::string& name) const {
  // The caller may have changed the public list, so the index is verified.
  if (const auto known = index_.find(name);
      known != index_.end() && known->second < tensors.size() && tensors[known->second].first == name)
    return tensors[known->second].second;
  std::vector<std::string> names;
  for (const auto& [have, tensor] : tensors) {
    if (have == name) return tensor;
    names.push_back(have);
  }
  if (const auto found = unsupported.find(name); found != unsupported.end())
    detail::fail("load: tensor \"", name, "\"", unsupported_text(found->second));
  detail::fail("load: the file has no tensor \"", name, "\"", detail::near_names(name, names), ".");
}

struct Reader::Contents {
  std::unique_ptr<Bytes> bytes;
  Header header;

  explicit Contents(std::unique_ptr<Bytes> source) : bytes(std::move(source)) {
    header = located([&] { return header_of(*bytes); });
  }

  // Calls `body` and adds the file's path to its errors.
  template <class Body>
  auto located(const Body& body) const -> decltype(body()) {
    return io::located(bytes->path(), body);
  }

  const Entry& entry(const std::string& name) const {
    if (const Entry* found = header.find(name)) return *found;
    std::vector<std::string> names;
    for (const Entry& e : header.entries) names.push_back(e.name);
    located([&] {
      detail::fail("safetensors: the file has no tensor \"", name, "\"", detail::near_names(name, names),
                   ".");
    });
    return header.entries.front();
  }

  Variable tensor(const Entry& e) const {
    if (!e.is_supported())
      detail::fail("safetensors: tensor \"", e.name, "\"", unsupported_text(e.format->name));
    const NdArray array = NdArray::empty(e.sizes, e.format->dtype);
    bytes->read(header.data_start + e.begin, array.address(), static_cast<std::size_t>(e.end - e.begin));
    check_bool(e, array.address());
    return Variable(array);
  }
};

Reader::Reader(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
Reader::Reader(const std::string& path)
    : Reader(std::make_unique<Contents>(std::make_unique<BytesOnDisk>(path))) {}
Reader::Reader(std::istream& stream)
    : Reader(std::make_unique<Contents>(std::make_unique<BytesInMemory>(io::rest_of(stream, check_start)))) {}
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;
Reader::~Reader() = default;

std::vector<std::string> Reader::keys() const {
  std::vector<std::string> names;
  names.reserve(contents_->header.entries.size());
  for (const Entry& e : contents_->header.entries) names.push_back(e.name);
  return names;
}
bool Reader::contains(const std::string& name) const { return contents_->header.find(name) != nullptr; }
std::vector<std::int64_t> Reader::sizes(const std::string& name) const {
  const DimVector& sizes = contents_->entry(name).sizes;
  return {sizes.begin(), sizes.end()};
}
std::string Reader::dtype(const std::string& name) const { return contents_->entry(name).format->name; }
bool Reader::is_supported(const std::string& name) const { return contents_->entry(name).is_supported(); }
const Metadata& Reader::metadata() const { return contents_->header.metadata; }

Variable Reader::get_tensor(const std::string& name) const {
  const Entry& entry = contents_->entry(name);
  return contents_->located([&] { return contents_->tensor(entry); });
}

void Reader::read_into(const std::string& name, Variable& tensor) const {
  const Entry& entry = contents_->entry(name);
  EBB_CHECK(tensor.defined(), "read_into: the tensor for \"", name, "\" is undefined. Use get_tensor().");
  EBB_CHECK(tensor.sizes() == IntArrayRef(entry.sizes), "read_into: tensor \"", name, "\" is of shape ",
            IntArrayRef(entry.sizes), " and does not fit one of shape ", tensor.sizes(), ".");
  NoGradGuard no_grad;
  Variable target = tensor.detach();
  // Bytes of Bool are checked first, so that invalid ones are never written to a tensor.
  const bool in_place = entry.format->dtype == target.dtype() && target.dtype() != kBool && target.is_cpu() &&
                        target.is_contiguous();
  if (!in_place) {
    target.copy_(get_tensor(name));
    return;
  }
  target.array().storage()->bump_version();
  contents_->bytes->read(contents_->header.data_start + entry.begin, target.data_ptr(), target.nbytes());
}

File Reader::read() const {
  NamedTensors tensors;
  Unsupported unsupported;
  tensors.reserve(contents_->header.entries.size());
  contents_->located([&] {
    for (const Entry& e : contents_->header.entries) {
      if (e.is_supported())
        tensors.emplace_back(e.name, contents_->tensor(e));
      else
        unsupported.emplace(e.name, e.format->name);
    }
  });
  return {std::move(tensors), metadata(), std::move(unsupported)};
}

File read(const std::string& path) { return Reader(path).read(); }
File read(std::istream& stream) { return Reader(stream).read(); }

File parse(const void* bytes, std::size_t size) {
  const std::string_view borrowed(static_cast<const char*>(bytes), size);
  return Reader(std::make_unique<Reader::Contents>(std::make_unique<BytesInMemory>(borrowed))).read();
}

}  // namespace ebb::safetensors
