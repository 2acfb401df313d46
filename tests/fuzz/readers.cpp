// Readers of ebb, called on bytes as a fuzzer gives them.
#include "fuzz/reading.h"
#include "fuzz/targets.h"

namespace fuzz {
bool read_safetensors(std::string_view bytes) {
  ebb::safetensors::File file;
  if (!accepted([&] { file = ebb::safetensors::parse(bytes.data(), bytes.size()); })) return false;
  for (const auto& [name, tensor] : file.tensors) look_at(tensor);
  return true;
}

bool read_idx(std::string_view bytes) {
  const MemoryFile file(bytes);
  ebb::Tensor read;
  if (!accepted([&] { read = ebb::data::read_idx(file.path()); })) return false;
  look_at(read);
  return true;
}

bool read_gzipped_idx(std::string_view bytes) { return read_idx(gzip(bytes)); }

bool read_csv(std::string_view bytes) {
  ebb::data::CSV table;
  const auto options =
      ebb::data::CSVOptions().dtype(bytes.size() % 2 == 0 ? ebb::kLong : ebb::kFloat).allow_missing(false);
  if (!accepted([&] { table = ebb::data::parse_csv(bytes, options); })) return false;
  look_at(table.values());
  for (const std::string& name : table.column_names())
    EBB_CHECK(table.is_numeric(name) ? table.column(name).size(0) == table.rows()
                                     : static_cast<std::int64_t>(table.text(name).size()) == table.rows(),
              "a column is not as long as the table.");
  return true;
}

bool read_vocabulary(std::string_view bytes) {
  const MemoryFile file(bytes);
  return accepted([&] {
    const ebb::data::Vocabulary read = ebb::data::Vocabulary::load(file.path());
    for (std::int64_t i = 0; i < read.size(); ++i)
      EBB_CHECK(read.index(read.token(i)) == i, "a token is not at its index.");
  });
}

}  // namespace fuzz
