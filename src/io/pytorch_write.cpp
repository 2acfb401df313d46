// torch.save's format.
#include <ebb/autograd/grad_mode.h>
#include <ebb/core/error.h>
#include <ebb/io/pytorch.h>
#include <ebb/ops/copy.h>

#include <bit>
#include <ostream>
#include <unordered_map>

#include "io/atomic_file.h"
#include "io/pytorch_format.h"
#include "io/zip.h"

namespace ebb::pytorch {
namespace {

// A pickle of protocol 2, and the arrays whose elements stand beside it.
class Pickler {
 public:
  std::string text = "\x80\x02";
  std::vector<NdArray> storages;

  void put(const Value& value) {
    std::visit([&](const auto& content) { emit(content); }, value.content());
  }

 private:
  void little(std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  }
  void global(const char* module, std::string_view name) {
    text += std::string("c") + module + "\n" + std::string(name) + "\n";
  }

  void emit(std::monostate) { text += 'N'; }
  void emit(bool value) { text += value ? '\x88' : '\x89'; }
  void emit(std::int64_t value) {
    if (value >= INT32_MIN && value <= INT32_MAX) {
      text += 'J';
      little(static_cast<std::uint64_t>(value), 4);
    } else {
      text += "\x8a\x08";
      little(static_cast<std::uint64_t>(value), 8);
    }
  }
  void emit(double value) {
    text += 'G';
    const auto bits = std::bit_cast<std::uint64_t>(value);
    for (unsigned i = 8; i-- > 0;) text += static_cast<char>(bits >> (8 * i));
  }
  void emit(const std::string& value) {
    EBB_CHECK(value.size() <= UINT32_MAX, "pytorch: a text of ", std::uint64_t{value.size()},
              " bytes is too long.");
    text += 'X';
    little(value.size(), 4);
    text += value;
  }
  void emit(const List& items) {
    text += "](";
    for (const Value& item : items) put(item);
    text += 'e';
  }
  void emit(const Tuple& tuple) {
    text += '(';
    for (const Value& item : tuple.items) put(item);
    text += 't';
  }
  void emit(const Dict& entries) {
    global("collections", "OrderedDict");
    text += ")R(";
    for (const auto& [key, value] : entries) {
      put(key);
      put(value);
    }
    text += 'u';
  }
  [[noreturn]] void emit(const Object& object) {
    ebb::detail::fail("pytorch: an object of ", object.type,
                      " cannot be written. Write its attributes as a dict.");
  }
  [[noreturn]] void emit(const Unsupported& other) {
    ebb::detail::fail("pytorch: a tensor of dtype ", other.dtype, " cannot be written.");
  }
  void emit(IntArrayRef dims) {
    text += '(';
    for (const std::int64_t d : dims) emit(d);
    text += 't';
  }
  void emit(const Variable& tensor) {
    EBB_CHECK(tensor.defined(), "pytorch: a tensor is undefined and cannot be written.");
    NoGradGuard no_grad;
    const NdArray array = tensor.detach().to(Device::CPU).array();
    const StorageType& type = storage_of(array.dtype());
    const auto [key, offset, count] = place(array, type);
    global("torch._utils", "_rebuild_tensor_v2");
    text += "((";
    emit(std::string("storage"));
    global("torch", type.storage);
    emit(std::to_string(key));
    emit(std::string("cpu"));
    emit(count);
    text += "tQ";
    emit(offset);
    emit(IntArrayRef(array.sizes()));
    emit(IntArrayRef(array.strides()));
    text += '\x89';
    global("collections", "OrderedDict");
    text += ")RtR";
  }

  struct Place {
    std::size_t key;
    std::int64_t offset, count;
  };
  // The storage of an array, once in the file however many tensors look into it.
  Place place(const NdArray& array, const StorageType& type) {
    const void* const storage = array.storage().get();
    const auto [known, fresh] = keys_.emplace(storage, storages.size());
    if (fresh) storages.push_back(array);
    const auto count = static_cast<std::int64_t>(array.storage()->bytes() / type.bytes);
    return {known->second, array.offset(), count};
  }

  std::unordered_map<const void*, std::size_t> keys_;
};

void emit(const Value& value, const io::ZipWriter::Put& put) {
  Pickler pickler;
  pickler.put(value);
  pickler.text += '.';
  io::ZipWriter zip(put);
  const auto add = [&](const std::string& name, std::string_view bytes) {
    zip.add("archive/" + name, bytes.data(), bytes.size());
  };
  add("data.pkl", pickler.text);
  add("byteorder", "little");
  for (std::size_t i = 0; i < pickler.storages.size(); ++i) {
    const Storage& storage = *pickler.storages[i].storage();
    zip.add("archive/data/" + std::to_string(i), storage.data(), storage.bytes());
  }
  add("version", "3\n");
  zip.finish();
}

Value dict_of(const NamedTensors& tensors) {
  Dict dict;
  for (const auto& [name, tensor] : tensors) dict.emplace_back(name, tensor);
  return dict;
}

}  // namespace

void write(const std::string& path, const Value& value) {
  optional<io::AtomicFile> file;  // made once the value is known to be sound
  emit(value, [&](std::uint64_t position, const void* bytes, std::size_t size) {
    if (!file) file.emplace(path);
    file->write_at(position, bytes, size);
  });
  file->commit();
}
void write(std::ostream& stream, const Value& value) {
  std::string file;
  emit(value, [&](std::uint64_t position, const void* bytes, std::size_t size) {
    file.resize(std::max<std::size_t>(file.size(), position + size));
    std::copy_n(static_cast<const char*>(bytes), size, file.data() + position);
  });
  stream.write(file.data(), static_cast<std::streamsize>(file.size()));
  EBB_CHECK(stream.good(), "pytorch: the stream did not take all bytes.");
}
void write(const std::string& path, const NamedTensors& tensors) { write(path, dict_of(tensors)); }
void write(std::ostream& stream, const NamedTensors& tensors) { write(stream, dict_of(tensors)); }

}  // namespace ebb::pytorch
