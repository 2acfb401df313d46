// safetensors::write: writes tensors to files and streams.
#include <ebb/io/safetensors.h>
#include <ebb/ops/creation.h>

#include "io/atomic_file.h"
#include "io/safetensors_format.h"

#include <nlohmann/json.hpp>

#include <ostream>
#include <unordered_set>

namespace ebb::safetensors {

// nlohmann is used only for single strings, because its containers terminate the program if their destructors
// run out of memory.
std::string quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception& e) {
    detail::fail("safetensors: a name or metadata is not UTF-8: ", e.what());
  }
}

namespace {

// Writes the header entry by entry, because each insertion into a JSON tree would search all names.
std::string header_of(const NamedTensors& tensors, const Metadata& metadata) {
  std::string text = "{";
  for (const char* separator = "\"__metadata__\":{"; const auto& [key, value] : metadata) {
    text += separator + quoted(key) + ":" + quoted(value);
    separator = ",";
  }
  if (!metadata.empty()) text += "},";
  std::unordered_set<std::string_view> names;
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    EBB_CHECK(tensor.defined(), "safetensors: tensor \"", name, "\" is undefined.");
    EBB_CHECK(name != "__metadata__" && names.insert(name).second, "safetensors: the name \"", name,
              "\" is given twice or reserved.");
    const std::uint64_t end = at + tensor.nbytes();
    std::string sizes;
    for (const std::int64_t size : tensor.sizes()) sizes += (sizes.empty() ? "" : ",") + std::to_string(size);
    text += quoted(name) + ":{\"dtype\":\"" + name_of(tensor.dtype()) + "\",\"shape\":[" + sizes +
            "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]},";
    at = end;
  }
  if (text.back() == ',') text.pop_back();
  text += '}';
  text.append((8 - text.size() % 8) % 8, ' ');  // aligns the data
  return text;
}

/// Passes the bytes of a file to put(address, size) in parts.
template <class Put>
void emit(const NamedTensors& tensors, const Metadata& metadata, const Put& put) {
  const std::string text = header_of(tensors, metadata);
  EBB_CHECK(text.size() <= kMaxHeader, "safetensors: ", std::uint64_t{tensors.size()},
            " names take a header of ", std::uint64_t{text.size()}, " bytes; at most ", kMaxHeader,
            " are allowed. Write several files.");
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(std::uint64_t{text.size()} >> (8 * i));
  put(length, sizeof length);
  put(text.data(), text.size());
  for (const auto& item : tensors) {
    const Variable tensor = item.second.detach().to(Device::CPU).contiguous();
    put(tensor.data_ptr(), tensor.nbytes());
  }
}

}  // namespace

void write(const std::string& path, const NamedTensors& tensors, const Metadata& metadata) {
  optional<io::AtomicFile> file;  // opened after the tensors have been checked
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
