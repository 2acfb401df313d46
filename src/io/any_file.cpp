// format_of and read_any: recognise and read files of all tensor formats.
#include "io/any_file.h"

#include <ebb/io/npy.h>
#include <ebb/io/pytorch.h>

#include "io/bytes.h"
#include "io/pytorch_format.h"
#include "io/pytorch_values.h"
#include "io/safetensors_format.h"

#include <algorithm>
#include <istream>
#include <memory>
#include <sstream>

namespace ebb::io {
namespace {

// Guesses the format from the first bytes. Returns Torch for every zip archive.
Format format_of_start(std::string_view start) {
  if (start.starts_with("PK") || start.starts_with(pytorch::kLegacyMagic)) return Format::Torch;
  if (start.starts_with("\x93NUMPY")) return Format::Npy;
  return start.starts_with('{') ? Format::Json : Format::Safetensors;
}

// Reads a file of a known format. `from` is a path, or a stream at the file's beginning.
template <class Source>
safetensors::File read_as(Format format, Source& from) {
  switch (format) {
    case Format::Torch: {
      safetensors::Unsupported unsupported;
      safetensors::NamedTensors tensors = pytorch::archived(pytorch::read(from), unsupported);
      return {std::move(tensors), {}, std::move(unsupported)};
    }
    case Format::Npz:
      return {npy::read_npz(from), {}};
    case Format::Npy:
      return {{{"tensor", npy::read(from)}}, {}};
    case Format::Json:
    case Format::Safetensors:
      break;
  }
  return safetensors::read(from);
}

}  // namespace

Format format_of(const std::shared_ptr<const Bytes>& bytes) {
  std::string start(std::min<std::uint64_t>(bytes->size(), pytorch::kLegacyMagic.size()), '\0');
  bytes->read(0, start.data(), start.size());
  const Format format = format_of_start(start);
  return format == Format::Torch && start.starts_with("PK") && npy::holds_arrays(bytes) ? Format::Npz
                                                                                        : format;
}

std::string any_rest_of(std::istream& stream) {
  return rest_of(stream, [](std::string_view start) {
    const Format format = format_of_start(start);
    if (format == Format::Safetensors || format == Format::Json) safetensors::check_start(start);
  });
}

safetensors::File read_any(const std::string& path) {
  return located(path, [&] { return read_as(format_of(std::make_shared<BytesOnDisk>(path)), path); });
}

safetensors::File read_any(std::istream& stream) {
  std::string bytes = any_rest_of(stream);
  const Format format = format_of(std::make_shared<BytesInMemory>(std::string_view(bytes)));
  std::istringstream again(std::move(bytes));
  return read_as(format, again);
}

}  // namespace ebb::io
