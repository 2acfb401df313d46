// NumPy files: .npy arrays and .npz archives.
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/error.h>
#include <ebb/io/npy.h>
#include <ebb/ops/creation.h>

#include "io/any_file.h"
#include "io/atomic_file.h"
#include "io/bytes.h"
#include "io/shapes.h"
#include "io/zip.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <istream>
#include <memory>
#include <ostream>

namespace ebb::npy {
namespace {

using io::Bytes;

template <class... Parts>
[[noreturn]] void unsound(const Parts&... parts) {
  ebb::detail::fail("npy: the file is not sound: ", parts..., ". Fetch or write it again.");
}

constexpr std::string_view kMagic = "\x93NUMPY";

struct Kind {
  std::string_view code;  // the type code without the byte order
  DType dtype;
};
constexpr Kind kKinds[] = {{"b1", kBool}, {"i1", kChar}, {"u1", kByte},  {"i2", kShort}, {"i4", kInt},
                           {"i8", kLong}, {"f2", kHalf}, {"f4", kFloat}, {"f8", kDouble}};

std::size_t item_size(DType dtype) { return static_cast<std::size_t>(element_size(dtype)); }

struct Header {
  DType dtype;
  bool swapped, fortran;
  DimVector sizes;
};

// Returns the text after 'key': in the header, which is a Python dict literal.
std::string_view after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find("'" + std::string(key) + "'");
  const std::size_t colon = at == text.npos ? at : text.find(':', at);
  if (colon == text.npos) unsound("its header lacks '", std::string(key), "'");
  text.remove_prefix(colon + 1);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

DimVector shape_of(std::string_view text) {
  if (!text.starts_with('(')) unsound("its shape is not a tuple");
  text.remove_prefix(1);
  DimVector sizes;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(", "), text.size()));
    if (text.starts_with(')')) return sizes;
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size < 0) unsound("its shape cannot be parsed");
    sizes.push_back(size);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with('L')) text.remove_prefix(1);  // Python 2 writes 3L
  }
}

constexpr std::uint64_t kLongestHeader = std::uint64_t{1} << 20;
constexpr std::size_t kStart = 12;  // the number of first bytes that contain the header's length

/// Returns the offset of the data, from the first bytes of a file.
std::uint64_t data_begin(std::string_view start) {
  EBB_CHECK(start.starts_with(kMagic),
            "npy: this is not a NumPy .npy file: it does not begin with \"\\x93NUMPY\".");
  if (start.size() < kStart) unsound("it is cut short");
  const unsigned char version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3)
    ebb::detail::fail("npy: version ", int{version}, " of the format is not known; 1 to 3 are.");
  const std::size_t width = version == 1 ? 2 : 4;
  std::uint64_t length = 0;
  for (std::size_t i = width; i-- > 0;) length = length << 8 | static_cast<unsigned char>(start[8 + i]);
  return 8 + width + length;
}

Header header_of(std::string_view text) {
  std::string_view descr = after(text, "descr");
  if (!descr.starts_with('\''))
    ebb::detail::fail("npy: arrays of structures cannot be read. Save their fields one by one.");
  descr = descr.substr(1, descr.find('\'', 1) - 1);
  if (descr.empty()) unsound("its dtype is empty");
  const std::string_view code = descr.substr(1);
  const auto* kind =
      std::find_if(std::begin(kKinds), std::end(kKinds), [&](const Kind& k) { return k.code == code; });
  EBB_CHECK(kind != std::end(kKinds), "npy: arrays of dtype ", std::string(descr),
            " cannot be read. Convert them in Python: array.astype(numpy.float64), or another of bool, int8, "
            "int16, int32, int64, "
            "uint8, float16, float32, float64.");
  return {kind->dtype, descr[0] == '>', after(text, "fortran_order").starts_with("True"),
          shape_of(after(text, "shape"))};
}

/// Returns the tensor of a file of `size` bytes. source.start(to, n) reads the first n bytes.
/// source.all(head, n, to, m) reads the first n bytes again, then the next m bytes, and verifies a checksum
/// if there is one. If `elements` is false, the tensor has only a dtype and a shape.
template <class Source>
Variable tensor_of(std::uint64_t size, const Source& source, bool elements) {
  std::string head(std::min<std::uint64_t>(size, kStart), '\0');
  source.start(head.data(), head.size());
  const std::uint64_t begin = data_begin(head);
  if (begin > size) unsound("it is cut short");
  if (begin > kLongestHeader) unsound("its header of ", begin, " bytes is too long");
  head.resize(std::max<std::uint64_t>(begin, kStart));
  source.start(head.data(), head.size());
  const Header header = header_of(head);
  std::uint64_t bytes = item_size(header.dtype);
  for (const std::int64_t extent : header.sizes)
    if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes))
      unsound("its shape is too large");
  if (bytes > size - begin) unsound("it is cut short: its shape needs ", bytes, " bytes of data");
  if (!elements) return Variable(io::shape_alone(header.sizes, header.dtype));
  DimVector sizes = header.sizes;
  if (header.fortran) std::reverse(sizes.begin(), sizes.end());
  const NdArray array = NdArray::empty(sizes, header.dtype);
  auto* const to = static_cast<char*>(array.address());
  source.all(head.data(), begin, to, bytes);
  if (header.swapped)
    for (std::uint64_t i = 0; i < bytes; i += item_size(header.dtype))
      std::reverse(to + i, to + i + item_size(header.dtype));
  if (header.dtype == kBool && std::any_of(to, to + bytes, [](char b) { return (b & ~1) != 0; }))
    unsound("a bool array holds a byte other than 0 and 1");
  if (!header.fortran || sizes.size() < 2) return Variable(array);
  DimVector strides(array.strides());
  std::reverse(strides.begin(), strides.end());
  return Variable(NdArray(array.storage(), header.sizes, strides, 0, header.dtype));
}

/// Returns the header of a tensor, and the tensor as a CPU tensor in C order.
std::pair<std::string, Variable> parts_of(const Variable& tensor) {
  EBB_CHECK(tensor.defined(), "npy: an undefined tensor cannot be written.");
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& k) { return k.dtype == tensor.scalar_type(); });
  EBB_CHECK(kind != std::end(kKinds), "npy: NumPy has no dtype ", tensor.scalar_type(),
            ". Convert first: x.to(ebb::kFloat).");
  std::string shape;
  for (const std::int64_t size : tensor.sizes()) shape += std::to_string(size) + ",";
  const char order = item_size(kind->dtype) == 1 ? '|' : '<';
  std::string text = std::string("{'descr': '") + order + std::string(kind->code) +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  text.append(63 - (10 + text.size()) % 64, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {'\1', '\0', static_cast<char>(text.size()), static_cast<char>(text.size() >> 8)};
  NoGradGuard no_grad;
  return {header + text, tensor.detach().to(Device::CPU).contiguous()};
}

std::string_view bytes_of(const Variable& data) {
  return {static_cast<const char*>(data.data_ptr()), data.nbytes()};
}

struct File {
  const Bytes& bytes;
  void start(void* to, std::uint64_t n) const { bytes.read(0, to, n); }
  void all(void*, std::uint64_t n, void* to, std::uint64_t m) const { bytes.read(n, to, m); }
};
Variable tensor_of(const Bytes& bytes, bool elements = true) {
  return tensor_of(bytes.size(), File{bytes}, elements);
}

struct Entry {
  const io::ZipReader& zip;
  const std::string& name;
  void start(void* to, std::uint64_t n) const { zip.read_start(name, to, n); }
  void all(void* head, std::uint64_t n, void* to, std::uint64_t m) const {
    zip.read_into(name, {{head, n}, {to, m}});
  }
};

NamedTensors arrays_of(std::shared_ptr<const Bytes> bytes, bool elements = true) {
  const io::ZipReader zip(std::move(bytes));
  NamedTensors tensors;
  for (const std::string& name : zip.names()) {
    EBB_CHECK(name.ends_with(".npy"), "npy: the archive holds \"", name,
              "\", which is not an array. Is it a PyTorch file? ebb::load reads both.");
    tensors.emplace_back(name.substr(0, name.size() - 4),
                         tensor_of(zip.size(name), Entry{zip, name}, elements));
  }
  return tensors;
}

}  // namespace

void check_npz_start(std::string_view start) {
  if (start.find("PK") == start.npos)
    ebb::detail::fail("npy: this is not a NumPy .npz file: it does not begin like a zip archive.");
}

bool holds_arrays(const std::shared_ptr<const Bytes>& bytes) {
  char start[2] = {};
  if (bytes->size() >= 2) bytes->read(0, start, 2);
  if (start[0] != 'P' || start[1] != 'K') return false;
  const io::ZipReader zip(bytes);
  return std::all_of(zip.names().begin(), zip.names().end(),
                     [](const std::string& name) { return name.ends_with(".npy"); });
}

Variable read(const std::string& path) {
  return io::located(path, [&] { return tensor_of(io::BytesOnDisk(path)); });
}
Variable read(std::istream& stream) {
  return tensor_of(io::BytesInMemory(io::rest_of(stream, [](std::string_view start) { data_begin(start); })));
}
Variable read_shape(const std::string& path) {
  return io::located(path, [&] { return tensor_of(io::BytesOnDisk(path), /*elements=*/false); });
}
Variable parse(const void* bytes, std::size_t size) {
  return tensor_of(io::BytesInMemory(std::string_view(static_cast<const char*>(bytes), size)));
}

void write(const std::string& path, const Variable& tensor) {
  const auto [header, data] = parts_of(tensor);
  io::AtomicFile file(path);
  file.write(header.data(), header.size());
  file.write(data.data_ptr(), data.nbytes());
  file.commit();
}
void write(std::ostream& stream, const Variable& tensor) {
  const auto [header, data] = parts_of(tensor);
  for (const std::string_view bytes : {std::string_view(header), bytes_of(data)})
    stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EBB_CHECK(stream.good(), "npy: the stream did not take all bytes.");
}

bool is_npz(const std::string& path) { return holds_arrays(std::make_shared<io::BytesOnDisk>(path)); }
bool is_npz(std::istream& stream) {
  const std::istream::pos_type at = stream.tellg();
  char start[2] = {};
  stream.read(start, 2);
  const bool zip = stream.gcount() == 2 && start[0] == 'P' && start[1] == 'K';
  stream.clear();
  stream.seekg(at);
  if (!zip) return false;
  const bool found = holds_arrays(std::make_shared<io::BytesInMemory>(io::rest_of(stream, check_npz_start)));
  stream.clear();
  stream.seekg(at);
  return found;
}
NamedTensors read_npz(const std::string& path) {
  return io::located(path, [&] { return arrays_of(std::make_shared<io::BytesOnDisk>(path)); });
}
NamedTensors read_npz_shapes(const std::string& path) {
  return io::located(path,
                     [&] { return arrays_of(std::make_shared<io::BytesOnDisk>(path), /*elements=*/false); });
}
NamedTensors read_npz(std::istream& stream) {
  return arrays_of(std::make_shared<io::BytesInMemory>(io::rest_of(stream, check_npz_start)));
}

void write_npz(const std::string& path, const NamedTensors& tensors) {
  std::vector<std::pair<std::string, Variable>> entries;
  for (const auto& each : tensors)  // checks all tensors before anything is written
    entries.push_back(parts_of(each.second));
  io::AtomicFile file(path);
  io::ZipWriter zip([&](std::uint64_t position, const void* bytes, std::size_t size) {
    file.write_at(position, bytes, size);
  });
  for (std::size_t i = 0; i < entries.size(); ++i)
    zip.add(tensors[i].first + ".npy", {entries[i].first, bytes_of(entries[i].second)});
  zip.finish();
  file.commit();
}

}  // namespace ebb::npy
