// contents_of: lists the tensors of a file.
#include "cli/contents.h"

#include <ebb/core/error.h>
#include <ebb/io/npy.h>
#include <ebb/io/safetensors.h>
#include <ebb/io/sharded.h>

#include "io/shapes.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace ebb::cli {
namespace {

const char* name_of(DType dtype) {
  switch (dtype) {
    case kByte:
      return "uint8";
    case kChar:
      return "int8";
    case kShort:
      return "int16";
    case kInt:
      return "int32";
    case kLong:
      return "int64";
    case kHalf:
      return "float16";
    case kFloat:
      return "float32";
    case kDouble:
      return "float64";
    case kBool:
      return "bool";
    case kBFloat16:
      return "bfloat16";
    case DType::Undefined:
      break;
  }
  return "undefined";
}

/// Converts the name of a safetensors dtype ("F32") to ebb's. Other names stay unchanged ("F8_E4M3").
std::string name_of(const std::string& spelled) {
  static constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"BOOL", "bool"},   {"U8", "uint8"},      {"U16", "uint16"},     {"U32", "uint32"},
      {"U64", "uint64"},  {"I8", "int8"},       {"I16", "int16"},      {"I32", "int32"},
      {"I64", "int64"},   {"F16", "float16"},   {"F32", "float32"},    {"BF16", "bfloat16"},
      {"F64", "float64"}, {"C64", "complex64"}, {"C128", "complex128"}};
  for (const auto& [name, known] : kNames)
    if (name == spelled) return known;
  return spelled;
}

/// Returns the bits of an element, which is the first number in the name of the dtype.
std::uint64_t bits_of(const std::string& spelled) {
  const std::size_t digit = spelled.find_first_of("0123456789");
  return digit == spelled.npos ? 8 : std::stoull(spelled.substr(digit));
}

/// Returns the product of the sizes. Readers have checked that it does not overflow, unless a size is 0.
std::uint64_t elements_of(const std::vector<std::int64_t>& sizes) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  std::uint64_t product = 1;
  for (const std::int64_t size : sizes) product *= static_cast<std::uint64_t>(size);
  return product;
}

TensorInfo info_of(const std::string& name, const Variable& tensor) {
  const std::vector<std::int64_t> sizes(tensor.sizes().begin(), tensor.sizes().end());
  const std::uint64_t elements = elements_of(sizes);
  return {name, name_of(tensor.scalar_type()), sizes, elements,
          elements * static_cast<std::uint64_t>(element_size(tensor.scalar_type()))};
}

TensorInfo info_of(const safetensors::Reader& file, const std::string& name) {
  const std::string dtype = file.dtype(name);
  std::vector<std::int64_t> sizes = file.sizes(name);
  const std::uint64_t elements = elements_of(sizes), bits = bits_of(dtype);
  return {name, name_of(dtype), std::move(sizes), elements, elements / 8 * bits + elements % 8 * bits / 8};
}

Contents of_safetensors(const std::string& path) {
  const safetensors::Reader file(path);
  Contents contents{"safetensors", {}, file.metadata()};
  for (const std::string& name : file.keys()) contents.tensors.push_back(info_of(file, name));
  return contents;
}

Contents of_index(const std::string& path) {
  const safetensors::ShardedReader checkpoint(path);
  Contents contents{"sharded safetensors", {}, {}};
  const safetensors::Reader* last = nullptr;
  for (const std::string& name : checkpoint.keys()) {
    const safetensors::Reader& file = checkpoint.file_of(name);
    contents.tensors.push_back(info_of(file, name));
    if (std::exchange(last, &file) != &file)
      contents.metadata.insert(file.metadata().begin(), file.metadata().end());
  }
  return contents;
}

Contents of_arrays(const npy::NamedTensors& arrays, const char* format) {
  Contents contents{format, {}, {}};
  for (const auto& [name, array] : arrays) contents.tensors.push_back(info_of(name, array));
  return contents;
}

/// Collects the tensors of all levels of a value of torch.save, also those of optimizers. The recursion is
/// bounded, because the reader limits the depth and the number of values.
class Tensors {
 public:
  void add(const pytorch::Value& value, const std::string& name) {
    std::visit([&](const auto& content) { take(content, name); }, value.content());
  }
  std::vector<TensorInfo> found;

 private:
  void take(const Variable& tensor, const std::string& name) {
    if (tensor.defined()) found.push_back(info_of(name.empty() ? "tensor" : name, tensor));
  }
  void take(const pytorch::Unsupported& tensor, const std::string& name) {
    found.push_back({name.empty() ? "tensor" : name, tensor.dtype, {}, 0, 0});
  }
  void take(const pytorch::List& items, const std::string& name) {
    for (std::size_t i = 0; i < items.size(); ++i)
      add_part(items[i], name, [&] { return std::to_string(i); });
  }
  void take(const pytorch::Tuple& tuple, const std::string& name) { take(tuple.items, name); }
  void take(const pytorch::Dict& dict, const std::string& name) {
    for (const auto& [key, value] : dict) {
      const auto* const text = std::get_if<std::string>(&key.content());
      const auto* const number = std::get_if<std::int64_t>(&key.content());
      add_part(value, name, [&] {
        return text ? *text : number ? std::to_string(*number) : std::string("?");
      });
    }
  }
  void take(const pytorch::Object& object, const std::string& name) { take(object.attributes, name); }
  template <class Other>
  void take(const Other&, const std::string&) {}

  /// Adds an item of a value. Throws if all names together take more than 256 MiB. A value has a name at each
  /// of its occurrences, and a small file can contain very many occurrences.
  template <class Key>
  void add_part(const pytorch::Value& value, const std::string& name, const Key& key) {
    if (value.is_none() || value.content().index() < kFirstNamed) return;
    std::string whole = name.empty() ? key() : name + "." + key();
    EBB_CHECK(whole.size() <= names_left_,
              "inspect: the names of the file's tensors take more than 256 MiB.");
    names_left_ -= whole.size();
    add(value, whole);
  }

  static constexpr std::size_t kFirstNamed = 5;  // the first alternative that is or may contain a tensor
  static_assert(std::is_same_v<std::variant_alternative_t<kFirstNamed, pytorch::Value::Content>, Variable>);
  std::size_t names_left_ = std::size_t{256} << 20;
};

Contents of_pytorch(const std::string& path) {
  Tensors tensors;
  tensors.add(pytorch::read_shapes(path), "");
  return {"pytorch", std::move(tensors.found), {}};
}

}  // namespace

Contents contents_of(const std::string& path) {
  std::error_code unreadable;
  if (std::filesystem::is_directory(path, unreadable)) return of_index(path);
  // The reader of safetensors refuses pipes and devices, which may be endless.
  if (!std::filesystem::is_regular_file(path, unreadable)) return of_safetensors(path);
  std::string start(8, '\0');
  std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
  if (start.starts_with("\x93NUMPY")) return of_arrays({{"tensor", npy::read_shape(path)}}, "npy");
  if (start.starts_with("PK"))
    return npy::is_npz(path) ? of_arrays(npy::read_npz_shapes(path), "npz") : of_pytorch(path);
  if (start.starts_with('\x80')) return of_pytorch(path);
  // A safetensors file whose header has 123 bytes also begins with '{', but zeros follow.
  return start[0] == '{' && start[7] != '\0' ? of_index(path) : of_safetensors(path);
}

}  // namespace ebb::cli
