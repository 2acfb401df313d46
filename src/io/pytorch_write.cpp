// pytorch::write: writes files in the format of torch.save, and libtorch's archives.
#include <ebb/core/error.h>
#include <ebb/io/pytorch.h>

#include "io/atomic_file.h"
#include "io/pytorch_pickler.h"
#include "io/zip.h"

#include <algorithm>
#include <ostream>
#include <unordered_map>

namespace ebb::pytorch {
namespace {

// Writes the entries of a file: the pickle, the storages and the versions. `code` is the code of a
// TorchScript archive; it is null for other files.
void emit(Pickler& pickler, const std::string* code, const io::ZipWriter::Put& put) {
  io::ZipWriter zip(put);
  const auto add = [&](const std::string& name, std::string_view bytes) {
    zip.add("archive/" + name, {bytes});
  };
  add("data.pkl", pickler.finish());
  if (code) {
    add("code/__torch__.py", *code);
    add("constants.pkl", "\x80\x02).");
  }
  add("byteorder", "little");
  pickler.write_storages(zip, "archive/");
  add("version", "3\n");
  zip.finish();
}

void to_path(const std::string& path, Pickler& pickler, const std::string* code = nullptr) {
  io::AtomicFile file(path);
  emit(pickler, code, [&](std::uint64_t position, const void* bytes, std::size_t size) {
    file.write_at(position, bytes, size);
  });
  file.commit();
}

void to_stream(std::ostream& stream, Pickler& pickler, const std::string* code = nullptr) {
  std::string file;
  emit(pickler, code, [&](std::uint64_t position, const void* bytes, std::size_t size) {
    file.resize(std::max<std::size_t>(file.size(), position + size));
    std::copy_n(static_cast<const char*>(bytes), size, file.data() + position);
  });
  stream.write(file.data(), static_cast<std::streamsize>(file.size()));
  EBB_CHECK(stream.good(), "pytorch: the stream did not take all bytes.");
}

// Pickles the value before anything is written, so that an error in any part of it leaves no partial file.
Pickler pickled(const Value& value) {
  Pickler pickler;
  pickler.put(value);
  return pickler;
}

Value dict_of(const NamedTensors& tensors) {
  Dict dict;
  for (const auto& [name, tensor] : tensors) dict.emplace_back(name, tensor);
  return dict;
}

// Splits names at their dots into nested dicts.
Value tree_of(const NamedTensors& tensors) {
  std::vector<std::pair<std::string, NamedTensors>> children;  // in the order of their first tensors
  std::unordered_map<std::string, std::size_t> places;
  for (const auto& [name, tensor] : tensors) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    const auto [place, fresh] = places.emplace(name.substr(0, dot), children.size());
    if (fresh) children.emplace_back(place->first, NamedTensors());
    children[place->second].second.emplace_back(name.substr(std::min(dot + 1, name.size())), tensor);
  }
  Dict entries;
  for (const auto& [name, inside] : children) {
    const bool leaf = inside.size() == 1 && inside[0].first.empty();
    entries.emplace_back(name, leaf ? Value(inside[0].second) : tree_of(inside));
  }
  return entries;
}

}  // namespace

void write(const std::string& path, const Value& value) {
  Pickler pickler = pickled(value);
  to_path(path, pickler);
}
void write(std::ostream& stream, const Value& value) {
  Pickler pickler = pickled(value);
  to_stream(stream, pickler);
}
void write(const std::string& path, const NamedTensors& tensors) { write(path, dict_of(tensors)); }
void write(std::ostream& stream, const NamedTensors& tensors) { write(stream, dict_of(tensors)); }

void write_archive(const std::string& path, const Value& value) {
  Pickler pickler;
  const std::string code = put_script(pickler, value);
  to_path(path, pickler, &code);
}
void write_archive(std::ostream& stream, const Value& value) {
  Pickler pickler;
  const std::string code = put_script(pickler, value);
  to_stream(stream, pickler, &code);
}
void write_archive(const std::string& path, const NamedTensors& tensors) {
  write_archive(path, tree_of(tensors));
}
void write_archive(std::ostream& stream, const NamedTensors& tensors) {
  write_archive(stream, tree_of(tensors));
}

}  // namespace ebb::pytorch
