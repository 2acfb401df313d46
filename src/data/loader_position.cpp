// Where a loader is in its epoch, in an archive.
#include <ebb/data/data_loader.h>
#include <ebb/ops/creation.h>

namespace ebb::data::detail {

void write_position(serialize::OutputArchive& archive, const optional<std::size_t>& batches) {
  archive.write("batches",
                scalar_tensor(batches ? static_cast<std::int64_t>(*batches) : -1, TensorOptions(kLong)),
                true);
}

optional<std::size_t> read_position(serialize::InputArchive& archive) {
  Variable tensor;
  archive.read("batches", tensor, true);
  EBB_CHECK(tensor.numel() == 1 && is_integral(tensor.dtype()) && tensor.item<std::int64_t>() >= -1,
            "DataLoader::load: \"batches\" must be one integer, at least -1.");
  const std::int64_t batches = tensor.item<std::int64_t>();
  return batches < 0 ? nullopt : optional<std::size_t>(static_cast<std::size_t>(batches));
}

}  // namespace ebb::data::detail
