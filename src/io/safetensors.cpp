#include <ebb/io/safetensors.h>
#include <ebb/ops/copy.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <istream>
#include <iterator>
#include <memory>
#include <ostream>
#include <set>

#include "core/near_names.h"
#include "io/file.h"

namespace ebb::safetensors {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxHeader = 100'000'000;  // the limit of the reference implementation

struct Name {
  DType dtype;
  const char* text;
};
constexpr Name kNames[] = {{kDouble, "F64"}, {kFloat, "F32"}, {kHalf, "F16"},  {kBFloat16, "BF16"},
                           {kLong, "I64"},   {kInt, "I32"},   {kShort, "I16"}, {kChar, "I8"},
                           {kByte, "U8"},    {kBool, "BOOL"}};

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  detail::fail("safetensors: the file is not sound: ", parts..., ". Fetch or write it again.");
}

DType dtype_named(const std::string& text, const std::string& tensor) {
  for (const Name& n : kNames)
    if (text == n.text) return n.dtype;
  unsound("tensor \"", tensor, "\" has the dtype \"", text, "\", which ebb does not know");
}

const char* name_of(DType dtype) {
  for (const Name& n : kNames)
    if (dtype == n.dtype) return n.text;
  detail::fail("safetensors: cannot write dtype ", dtype, ".");
}

struct Entry {
  std::string name;
  DType dtype;
  DimVector sizes;
  std::uint64_t begin, end;
};

std::uint64_t natural(const json& value, const char* what, const std::string& tensor) {
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<std::int64_t>() < 0))
    unsound("tensor \"", tensor, "\": ", what, " is not a natural number");
  return value.get<std::uint64_t>();
}

Entry read_entry(const std::string& name, const json& value) {
  if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets"))
    unsound("tensor \"", name, "\" lacks dtype, shape or data_offsets");
  const json &dtype = value["dtype"], &shape = value["shape"], &offsets = value["data_offsets"];
  if (!dtype.is_string() || !shape.is_array() || !offsets.is_array() || offsets.size() != 2)
    unsound("tensor \"", name, "\" has a dtype, shape or data_offsets of the wrong kind");
  Entry e{name,
          dtype_named(dtype.get<std::string>(), name),
          {},
          natural(offsets[0], "an offset", name),
          natural(offsets[1], "an offset", name)};
  std::uint64_t bytes = static_cast<std::uint64_t>(element_size(e.dtype));
  bool overflow = false;
  for (const json& size : shape) {
    const std::uint64_t n = natural(size, "a size", name);
    overflow |= n > (std::uint64_t{1} << 59) || __builtin_mul_overflow(bytes, n, &bytes);
    e.sizes.push_back(static_cast<std::int64_t>(n));
  }
  const bool empty = std::find(e.sizes.begin(), e.sizes.end(), 0) != e.sizes.end();
  if (overflow && !empty) unsound("the shape of tensor \"", name, "\" overflows");
  if (empty) bytes = 0;
  if (e.end < e.begin || e.end - e.begin != bytes)
    unsound("tensor \"", name, "\" needs ", bytes, " bytes, its data_offsets [", e.begin, ", ", e.end,
            "] hold another number");
  return e;
}

struct Header {
  std::vector<Entry> entries;  // by offset
  Metadata metadata;
  std::size_t data_start = 0;
};

Header read_header(const char* bytes, std::size_t size) {
  if (size < 8) unsound("it has ", std::uint64_t{size}, " bytes, fewer than the 8 of a header's length");
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[i]);
  if (length > kMaxHeader)
    unsound("its header claims ", length, " bytes; at most ", kMaxHeader, " are allowed");
  if (length > size - 8)
    unsound("its header claims ", length, " bytes, but only ", std::uint64_t{size - 8},
            " follow: it is truncated");
  if (length == 0 || bytes[8] != '{') unsound("its header does not begin with '{'");

  std::set<std::string> names;
  std::string twice;
  const auto watch = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key && depth == 1 && !names.insert(value.get<std::string>()).second)
      twice = value.get<std::string>();
    return true;
  };
  json root;
  try {
    root = json::parse(bytes + 8, bytes + 8 + length, watch);
  } catch (const json::exception& e) {
    unsound("its header is not JSON: ", e.what());
  }
  if (!root.is_object()) unsound("its header is not a JSON object");
  if (!twice.empty()) unsound("its header names \"", twice, "\" twice");

  Header header;
  header.data_start = 8 + static_cast<std::size_t>(length);
  for (const auto& [name, value] : root.items()) {
    if (name != "__metadata__") {
      header.entries.push_back(read_entry(name, value));
      continue;
    }
    if (!value.is_object()) unsound("__metadata__ is not an object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) unsound("__metadata__ holds something other than strings at \"", key, "\"");
      header.metadata.emplace(key, text.get<std::string>());
    }
  }
  std::sort(header.entries.begin(), header.entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  std::uint64_t at = 0;
  for (const Entry& e : header.entries) {
    if (e.begin < at) unsound("tensor \"", e.name, "\" overlaps the one before it");
    if (e.begin > at) unsound("there is a gap of ", e.begin - at, " bytes before tensor \"", e.name, "\"");
    at = e.end;
  }
  if (at != size - header.data_start)
    unsound("its tensors take ", at, " bytes, but ", std::uint64_t{size - header.data_start},
            " follow the header");
  return header;
}

// `Owner` keeps the bytes alive; each tensor holds a share of it.
template <class Owner>
File view_of(const std::shared_ptr<Owner>& owner, char* bytes, std::size_t size) {
  const Header header = read_header(bytes, size);
  File file;
  file.metadata = header.metadata;
  for (const Entry& e : header.entries) {
    const std::size_t count = static_cast<std::size_t>(e.end - e.begin);
    char* data = bytes + header.data_start + e.begin;
    NdArray array;
    if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::size_t>(element_size(e.dtype)) == 0) {
      Ref<Storage> storage = Storage::adopt(
          data, count, Device::CPU,
          [](void* share, void*) { delete static_cast<std::shared_ptr<Owner>*>(share); },
          new std::shared_ptr<Owner>(owner));
      array = NdArray(std::move(storage), e.sizes, contiguous_strides(e.sizes), 0, e.dtype);
    } else {  // the format does not align; unaligned access would be undefined
      array = NdArray::empty(e.sizes, e.dtype);
      std::memcpy(array.data(), data, count);
    }
    if (e.dtype == kBool)
      for (std::size_t i = 0; i < count; ++i)
        if (static_cast<unsigned char>(data[i]) > 1)
          unsound("tensor \"", e.name, "\" of dtype BOOL holds a byte other than 0 and 1");
    file.tensors.emplace_back(e.name, Variable(std::move(array)));
  }
  return file;
}

}  // namespace

const Variable& File::at(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& [have, tensor] : tensors) {
    if (have == name) return tensor;
    names.push_back(have);
  }
  detail::fail("safetensors: the file has no tensor \"", name, "\"", detail::near_names(name, names), ".");
}

File read(const std::string& path) {
  const auto map = std::make_shared<io::MappedFile>(path);
  try {
    return view_of(map, map->data(), map->size());
  } catch (const Error& e) {
    throw Error(std::string(e.what()) + " File: \"" + path + "\".");
  }
}

File read(std::istream& stream) {
  const auto bytes = std::make_shared<std::vector<char>>(std::istreambuf_iterator<char>(stream),
                                                         std::istreambuf_iterator<char>());
  EBB_CHECK(!stream.bad(), "safetensors: the stream cannot be read.");
  return view_of(bytes, bytes->data(), bytes->size());
}

File parse(const void* bytes, std::size_t size) {
  const auto copy = std::make_shared<std::vector<char>>(static_cast<const char*>(bytes),
                                                        static_cast<const char*>(bytes) + size);
  return view_of(copy, copy->data(), copy->size());
}

namespace {

/// Hands the bytes of a file to put(address, size), piece by piece.
template <class Put>
void emit(const NamedTensors& tensors, const Metadata& metadata, const Put& put) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::vector<Variable> contiguous;
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    EBB_CHECK(tensor.defined(), "safetensors: tensor \"", name, "\" is undefined.");
    EBB_CHECK(name != "__metadata__" && !header.contains(name), "safetensors: the name \"", name,
              "\" is given twice or reserved.");
    contiguous.push_back(tensor.detach().to(Device::CPU).contiguous());
    const std::uint64_t end = at + contiguous.back().nbytes();
    header[name] = {{"dtype", name_of(tensor.dtype())},
                    {"shape", std::vector<std::int64_t>(tensor.sizes().begin(), tensor.sizes().end())},
                    {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception& e) {
    detail::fail("safetensors: a name or metadata is not UTF-8: ", e.what());
  }
  text.append((8 - text.size() % 8) % 8, ' ');  // aligns the data
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(std::uint64_t{text.size()} >> (8 * i));
  put(length, sizeof length);
  put(text.data(), text.size());
  for (const Variable& t : contiguous) put(t.data_ptr(), t.nbytes());
}

}  // namespace

void write(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  optional<io::AtomicFile> file;  // made once the tensors are known to be sound
  emit(tensors, metadata, [&](const void* bytes, std::size_t size) {
    if (!file) file.emplace(path);
    file->write(bytes, size);
  });
  file->commit();
}

void write(std::ostream& stream, const NamedTensors& tensors, const Metadata& metadata) {
  emit(tensors, metadata, [&](const void* bytes, std::size_t size) {
    stream.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  });
  EBB_CHECK(stream.good(), "safetensors: the stream did not take all bytes.");
}

}  // namespace ebb::safetensors
