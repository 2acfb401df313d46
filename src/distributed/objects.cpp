// broadcast_object and all_gather_object: strings and named tensors.
#include <ebb/archive.h>
#include <ebb/distributed/collectives.h>
#include <ebb/ops/creation.h>

#include <sstream>

namespace ebb::distributed {
namespace {

Variable bytes(std::string& text) {
  return from_blob(text.data(), {static_cast<std::int64_t>(text.size())}, TensorOptions(kByte));
}

std::string pack(const NamedTensors& object) {
  serialize::OutputArchive archive;
  for (const auto& [name, tensor] : object) archive.write(name, tensor);
  std::ostringstream out;
  archive.save_to(out);
  return out.str();
}

NamedTensors unpack(const std::string& text) {
  serialize::InputArchive archive;
  archive.load_from(text.data(), text.size());
  return archive.tensors();
}

}  // namespace

void broadcast_object(std::string& object, int src, const ProcessGroup& group) {
  Variable size = full({1}, static_cast<std::int64_t>(object.size()), TensorOptions(kLong));
  broadcast(size, src, group);
  object.resize(static_cast<std::size_t>(size.item<std::int64_t>()));
  broadcast(bytes(object), src, group);
}

void broadcast_object(NamedTensors& object, int src, const ProcessGroup& group) {
  const bool sends = rank(group) == src;
  std::string text = sends ? pack(object) : std::string();
  broadcast_object(text, src, group);
  if (!sends) object = unpack(text);
}

std::vector<std::string> all_gather_object(const std::string& object, const ProcessGroup& group) {
  const int ranks = world_size(group);
  const Variable sizes = empty({ranks}, TensorOptions(kLong));
  all_gather_into_tensor(sizes, full({1}, static_cast<std::int64_t>(object.size()), TensorOptions(kLong)),
                         group);
  std::vector<std::string> objects(static_cast<std::size_t>(ranks));
  std::vector<Variable> parts;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    objects[i].resize(static_cast<std::size_t>(sizes.data_ptr<std::int64_t>()[i]));
    parts.push_back(bytes(objects[i]));
  }
  std::string own = object;
  all_gather(parts, bytes(own), group);
  return objects;
}

std::vector<NamedTensors> all_gather_object(const NamedTensors& object, const ProcessGroup& group) {
  std::vector<NamedTensors> objects;
  for (const std::string& text : all_gather_object(pack(object), group)) objects.push_back(unpack(text));
  return objects;
}

}  // namespace ebb::distributed
