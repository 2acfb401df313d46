// pytorch::read: reads files of torch.save and libtorch's archives.
#include <ebb/core/error.h>
#include <ebb/io/pytorch.h>

#include "io/bytes.h"
#include "io/pytorch_values.h"
#include "io/shapes.h"
#include "io/zip.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace ebb::pytorch {
namespace {

using io::Bytes;
using io::ZipReader;

std::uint64_t bytes_of(const StorageType& type, std::int64_t count) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(count), std::uint64_t{type.bytes}, &bytes))
    unsound("a storage of ", count, " elements");
  return bytes;
}

void check_bool(const NdArray& array) {
  if (array.dtype() != kBool) return;
  const auto* p = static_cast<const unsigned char*>(array.address());
  if (std::any_of(p, p + array.numel(), [](unsigned char b) { return b > 1; }))
    unsound("a bool tensor holds a byte other than 0 and 1");
}

// The loaded storages by key. If `elements` is false, they have no memory.
class Loaded : public Storages {
 public:
  explicit Loaded(bool elements) : elements_(elements) {}
  NdArray load(const std::string& key, const StorageType& type, std::int64_t count) final {
    const auto known = arrays_.find(key);
    if (known != arrays_.end()) {
      if (known->second.dtype() != type.type || known->second.numel() < count)
        unsound("storage \"", key, "\" is of two kinds");
      return known->second;
    }
    NdArray array = fetch(key, type, count);
    if (elements_) check_bool(array);
    arrays_.emplace(key, array);
    return array;
  }

 protected:
  const bool elements_;

 private:
  virtual NdArray fetch(const std::string& key, const StorageType& type, std::int64_t count) = 0;
  std::unordered_map<std::string, NdArray> arrays_;
};

// Storages of a zip archive: the entries <prefix>data/<key>.
class ZipStorages final : public Loaded {
 public:
  ZipStorages(const ZipReader& zip, std::string prefix, bool elements)
      : Loaded(elements), zip_(zip), prefix_(std::move(prefix)) {}

 private:
  NdArray fetch(const std::string& key, const StorageType& type, std::int64_t count) override {
    const std::string name = prefix_ + "data/" + key;
    if (zip_.size(name) != bytes_of(type, count))
      unsound("storage \"", key, "\" has ", zip_.size(name), " bytes, not ", count, " elements");
    if (!elements_) return io::shape_alone({count}, type.type);
    NdArray array = NdArray::empty({count}, type.type);
    zip_.read_into(name, {{array.address(), zip_.size(name)}});
    return array;
  }
  const ZipReader& zip_;
  std::string prefix_;
};

[[noreturn]] void refuse_big_endian() {
  ebb::detail::fail(
      "pytorch: the file was written on a big-endian machine. Load and save it again in Python on this one.");
}

Value read_zip(std::shared_ptr<const Bytes> bytes, bool elements) {
  const ZipReader zip(std::move(bytes));
  const auto& names = zip.names();
  const auto found = std::find_if(names.begin(), names.end(), [](const std::string& name) {
    return name.ends_with("/data.pkl") || name == "data.pkl";
  });
  if (found == names.end())
    ebb::detail::fail(
        "pytorch: the zip archive holds no data.pkl: it was not written by torch.save. Is it a NumPy .npz, "
        "or another archive that holds the file?");
  const std::string prefix = found->substr(0, found->size() - std::string_view("data.pkl").size());
  if (zip.contains(prefix + "byteorder") && zip.read(prefix + "byteorder", 16) != "little")
    refuse_big_endian();
  const std::string pickle = zip.read(*found);
  std::size_t position = 0;
  ZipStorages storages(zip, prefix, elements);
  return value_of(io::parse_pickle(pickle, position), storages);
}

// Storages of the format before PyTorch 1.6. Such a file contains pickles one after the other: magic number,
// version, machine, value, and keys of the storages. Then each storage follows as its count and its elements.
class LegacyStorages final : public Loaded {
 public:
  /// The storages begin at `position`, in the order of `keys`. The offset of a storage depends on the types
  /// of all storages before it.
  LegacyStorages(const Bytes& bytes, std::uint64_t position, const io::Pickle& keys,
                 const std::unordered_map<std::string_view, const StorageType*>& types, bool elements)
      : Loaded(elements), bytes_(bytes) {
    for (const io::Pickle::Index each : keys.items(keys.root())) {
      const std::string_view key = keys.text(each);
      const auto type = types.find(key);
      if (type == types.end() || !type->second || bytes_.size() - position < 8)
        unsound("its storages are cut short");
      unsigned char little[8];
      bytes_.read(position, little, sizeof little);
      std::uint64_t count = 0;
      for (unsigned i = 8; i-- > 0;) count = count << 8 | little[i];
      position += 8;
      const std::uint64_t size = count > bytes_.size() ? bytes_.size() + 1 : count * type->second->bytes;
      if (size > bytes_.size() - position) unsound("its storages are cut short");
      if (!locations_.emplace(key, Location{position, count, type->second}).second)
        unsound("it has two storages \"", std::string(key), "\"");
      position += size;
    }
  }

 private:
  struct Location {
    std::uint64_t at, count;
    const StorageType* type;
  };
  NdArray fetch(const std::string& key, const StorageType& type, std::int64_t count) override {
    const auto found = locations_.find(key);
    if (found == locations_.end() || found->second.count < static_cast<std::uint64_t>(count))
      unsound("it lacks the storage \"", key, "\"");
    if (found->second.type->bytes != type.bytes) unsound("storage \"", key, "\" is of two kinds");
    const auto whole = static_cast<std::int64_t>(found->second.count);
    if (!elements_) return io::shape_alone({whole}, type.type);
    NdArray array = NdArray::empty({whole}, type.type);
    bytes_.read(found->second.at, array.address(), bytes_of(type, array.numel()));
    return array;
  }

  const Bytes& bytes_;
  std::unordered_map<std::string, Location> locations_;
};

// Reads the byte order from the dict that describes the writer's machine.
bool is_big_endian(const io::Pickle& machine) {
  const io::Pickle::Items entries = machine.items(machine.root());
  for (auto at = entries.begin(); at != entries.end(); ++at) {
    const bool named = machine.text(*at) == "little_endian";
    if (++at == entries.end()) break;
    if (named) return machine.integer(*at) == 0;
  }
  return false;
}

struct LegacyPickles {
  std::unique_ptr<const std::string> text;
  io::Pickle value, keys;
  std::size_t end = 0;  // the end of the last pickle that was read
};

void parse_pickles(LegacyPickles& pickles) {
  const std::string_view bytes = *pickles.text;
  pickles.end = 0;
  io::parse_pickle(bytes, pickles.end);  // the magic number
  const io::Pickle version = io::parse_pickle(bytes, pickles.end);
  if (version.integer(version.root()) != 1001) unsound("its version is not 1001");
  if (is_big_endian(io::parse_pickle(bytes, pickles.end))) refuse_big_endian();
  pickles.value = io::parse_pickle(bytes, pickles.end);
  pickles.keys = io::parse_pickle(bytes, pickles.end);
}

// Parses the pickles from the first part of the file, so that the storages need not be read. If the pickles
// do not end in this part, tries a larger one.
LegacyPickles pickles_of(const Bytes& bytes) {
  LegacyPickles pickles;
  for (std::uint64_t n = std::uint64_t{1} << 20;; n *= 16) {
    std::string start(std::min(n, bytes.size()), '\0');
    bytes.read(0, start.data(), start.size());
    pickles.text = std::make_unique<const std::string>(std::move(start));
    try {
      parse_pickles(pickles);
      return pickles;
    } catch (const Error&) {
      if (pickles.end < pickles.text->size() || pickles.text->size() == bytes.size()) throw;
    }
  }
}

Value read_legacy(const Bytes& bytes, bool elements) {
  const LegacyPickles pickles = pickles_of(bytes);
  const io::Pickle& pickle = pickles.value;
  std::unordered_map<std::string_view, const StorageType*> types;
  std::vector<bool> known(pickle.size());  // the visited ids, which many tensors may share
  for (io::Pickle::Index node = 0; node < pickle.size(); ++node) {
    if (pickle.kind(node) != io::Pickle::Kind::Reference || known[pickle.id(node)]) continue;
    known[pickle.id(node)] = true;
    const std::vector<io::Pickle::Index> id = pickle.items(pickle.id(node)).first(3);
    if (id.size() < 3 || pickle.text(id[2]).size() > kLongestKey) continue;
    const std::string name = pickle.name(id[1]);
    types[pickle.text(id[2])] = storage_named(std::string_view(name).substr(name.rfind('.') + 1));
  }
  LegacyStorages storages(bytes, pickles.end, pickles.keys, types, elements);
  return value_of(pickle, storages);
}

void check_start(std::string_view start) {
  if (start.starts_with("PK") || start.starts_with(kLegacyMagic)) return;
  ebb::detail::fail(
      "pytorch: this is not a file of torch.save: it is neither a zip archive nor a file that begins with "
      "PyTorch's magic number. ",
      start.starts_with('\x80') ? "It is a plain pickle: load it and torch.save() it in Python."
                                : "For safetensors call ebb::load or safetensors::read.");
}

Value read_bytes(const std::shared_ptr<const Bytes>& bytes, bool elements) {
  std::string start(std::min<std::uint64_t>(bytes->size(), kLegacyMagic.size()), '\0');
  bytes->read(0, start.data(), start.size());
  check_start(start);
  return start == kLegacyMagic ? read_legacy(*bytes, elements) : read_zip(bytes, elements);
}

Value located(const std::shared_ptr<const Bytes>& bytes, bool elements = true) {
  return io::located(bytes->path(), [&] { return read_bytes(bytes, elements); });
}

}  // namespace

Value read(const std::string& path) { return located(std::make_shared<io::BytesOnDisk>(path)); }
Value read_shapes(const std::string& path) {
  return located(std::make_shared<io::BytesOnDisk>(path), /*elements=*/false);
}
Value read(std::istream& stream) {
  return located(std::make_shared<io::BytesInMemory>(io::rest_of(stream, check_start)));
}
Value parse(const void* bytes, std::size_t size) {
  return located(
      std::make_shared<io::BytesInMemory>(std::string_view(static_cast<const char*>(bytes), size)));
}

NamedTensors read_state_dict(const std::string& path, std::map<std::string, std::string>* unsupported) {
  return state_dict(read(path), unsupported);
}
NamedTensors read_state_dict(std::istream& stream, std::map<std::string, std::string>* unsupported) {
  return state_dict(read(stream), unsupported);
}

}  // namespace ebb::pytorch
