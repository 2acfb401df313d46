// PyTorch's files and libtorch's archives.
#include <ebb/core/error.h>
#include <ebb/io/pytorch.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "io/located.h"
#include "io/pytorch_values.h"
#include "io/zip.h"

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

// Storages that were loaded, by key.
class Loaded : public Storages {
 public:
  NdArray load(const std::string& key, const StorageType& type, std::int64_t count) final {
    const auto known = arrays_.find(key);
    if (known != arrays_.end()) {
      if (known->second.dtype() != type.type || known->second.numel() < count)
        unsound("storage \"", key, "\" is of two kinds");
      return known->second;
    }
    NdArray array = fetch(key, type, count);
    check_bool(array);
    arrays_.emplace(key, array);
    return array;
  }

 private:
  virtual NdArray fetch(const std::string& key, const StorageType& type, std::int64_t count) = 0;
  std::unordered_map<std::string, NdArray> arrays_;
};

// Entries <prefix>data/<key> of an archive.
class ZipStorages final : public Loaded {
 public:
  ZipStorages(const ZipReader& zip, std::string prefix) : zip_(zip), prefix_(std::move(prefix)) {}

 private:
  NdArray fetch(const std::string& key, const StorageType& type, std::int64_t count) override {
    const std::string name = prefix_ + "data/" + key;
    if (zip_.size(name) != bytes_of(type, count))
      unsound("storage \"", key, "\" has ", zip_.size(name), " bytes, not ", count, " elements");
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

Value read_zip(std::shared_ptr<const Bytes> bytes) {
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
  ZipStorages storages(zip, prefix);
  return value_of(io::parse_pickle(pickle, position), storages);
}

// Before 1.6: pickles one after the other (magic number, version, machine, value, keys of the storages), then
// each storage as its count and its elements.
class LegacyStorages final : public Loaded {
 public:
  LegacyStorages(const Bytes& bytes, std::uint64_t position, const io::Pickle& keys)
      : bytes_(bytes), position_(position) {
    for (const std::uint32_t key : keys.at(keys.root).items) keys_.push_back(keys.at(key).text);
  }
  /// All storages must be met in the file's order, whose places depend on the types before.
  void place(const std::unordered_map<std::string, const StorageType*>& types) {
    for (const std::string& key : keys_) {
      const auto type = types.find(key);
      if (type == types.end() || !type->second || bytes_.size() - position_ < 8)
        unsound("its storages are cut short");
      unsigned char little[8];
      bytes_.read(position_, little, sizeof little);
      std::uint64_t count = 0;
      for (unsigned i = 8; i-- > 0;) count = count << 8 | little[i];
      position_ += 8;
      const std::uint64_t size = count > bytes_.size() ? bytes_.size() + 1 : count * type->second->bytes;
      if (size > bytes_.size() - position_) unsound("its storages are cut short");
      places_[key] = {position_, count};
      position_ += size;
    }
  }

 private:
  struct Place {
    std::uint64_t at, count;
  };
  NdArray fetch(const std::string& key, const StorageType& type, std::int64_t count) override {
    const auto found = places_.find(key);
    if (found == places_.end() || found->second.count < static_cast<std::uint64_t>(count))
      unsound("it lacks the storage \"", key, "\"");
    NdArray array = NdArray::empty({static_cast<std::int64_t>(found->second.count)}, type.type);
    bytes_.read(found->second.at, array.address(), bytes_of(type, array.numel()));
    return array;
  }

  const Bytes& bytes_;
  std::uint64_t position_;
  std::vector<std::string> keys_;
  std::unordered_map<std::string, Place> places_;
};

// What a file says of the machine it was written on: a dict, of which the sizes of C's types are of no use.
bool is_big_endian(const io::Pickle& machine) {
  const std::vector<std::uint32_t>& entries = machine.at(machine.root).items;
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2)
    if (machine.at(entries[i]).text == "little_endian") return machine.at(entries[i + 1]).integer == 0;
  return false;
}

struct LegacyPickles {
  io::Pickle value, keys;
  std::size_t end = 0;
};

LegacyPickles pickles_of(std::string_view bytes) {
  std::size_t position = 0;
  io::parse_pickle(bytes, position);  // the magic number
  const io::Pickle version = io::parse_pickle(bytes, position);
  if (version.at(version.root).integer != 1001) unsound("its version is not 1001");
  if (is_big_endian(io::parse_pickle(bytes, position))) refuse_big_endian();
  LegacyPickles pickles;
  pickles.value = io::parse_pickle(bytes, position);
  pickles.keys = io::parse_pickle(bytes, position);
  pickles.end = position;
  return pickles;
}

// Out of a part of the file that need not hold storages.
LegacyPickles pickles_of(const Bytes& bytes) {
  for (std::uint64_t n = std::uint64_t{1} << 20;; n *= 16) {
    std::string start(std::min(n, bytes.size()), '\0');
    bytes.read(0, start.data(), start.size());
    try {
      return pickles_of(start);
    } catch (const Error&) {
      if (start.size() == bytes.size()) throw;
    }
  }
}

Value read_legacy(const Bytes& bytes) {
  const auto [pickle, keys, position] = pickles_of(bytes);
  std::unordered_map<std::string, const StorageType*> types;
  for (const io::Pickle::Node& node : pickle.nodes) {
    if (node.kind != io::Pickle::Kind::Reference) continue;
    const auto& id = pickle.at(node.items[0]).items;
    if (id.size() < 3) continue;
    const std::string& name = pickle.at(id[1]).text;
    types[pickle.at(id[2]).text] = storage_named(std::string_view(name).substr(name.rfind('.') + 1));
  }
  LegacyStorages storages(bytes, position, keys);
  storages.place(types);
  return value_of(pickle, storages);
}

Value read_bytes(const std::shared_ptr<const Bytes>& bytes) {
  std::string start(std::min<std::uint64_t>(bytes->size(), kLegacyMagic.size()), '\0');
  bytes->read(0, start.data(), start.size());
  if (start.starts_with("PK")) return read_zip(bytes);
  if (start == kLegacyMagic) return read_legacy(*bytes);
  ebb::detail::fail(
      "pytorch: this is no file of torch.save: it is neither a zip archive nor begins with PyTorch's magic "
      "number. ",
      start.starts_with('\x80') ? "It is a plain pickle: load it and torch.save() it in Python."
                                : "For safetensors call ebb::load or safetensors::read.");
}

Value located(const std::shared_ptr<const Bytes>& bytes) {
  return io::located(bytes->path(), [&] { return read_bytes(bytes); });
}

}  // namespace

Value read(const std::string& path) { return located(std::make_shared<io::BytesOnDisk>(path)); }
Value read(std::istream& stream) { return located(std::make_shared<io::BytesInMemory>(io::rest_of(stream))); }
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
