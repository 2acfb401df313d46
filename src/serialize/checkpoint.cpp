// Checkpoint: its parts, its file, and the rollback if the file does not fit.
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/rng_state.h>
#include <ebb/checkpoint.h>
#include <ebb/cuda/cuda.h>
#include <ebb/io/safetensors.h>
#include <ebb/ops/creation.h>

#include "io/shared_tensors.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace ebb {
namespace {

using safetensors::NamedTensors;

constexpr const char* kFormat = "ebb.checkpoint";
constexpr const char* kVersion = "1";
constexpr const char* kPart = "part.";  // the prefix of the parts' names in the metadata
constexpr const char* kGenerators = "rng";

bool is_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  });
}

template <class T>
Variable vector_of(const std::vector<T>& values, DType dtype) {
  Variable tensor(NdArray::empty({static_cast<std::int64_t>(values.size())}, dtype));
  std::copy(values.begin(), values.end(), tensor.data_ptr<T>());
  return tensor;
}

serialize::OutputArchive generator_states(const NamedTensors& tensors) {
  serialize::OutputArchive states;
  states.write("cpu", get_rng_state());
  std::set<DeviceIndex> devices;
  for (const auto& item : tensors)
    if (item.second.device().is_cuda()) devices.insert(item.second.device().index());
  for (const DeviceIndex index : devices)
    states.write("cuda" + std::to_string(index), get_rng_state(Device(kCUDA, index)));
  return states;
}

// Sets the states of the generators. States of devices that do not exist are skipped, because a run may
// continue on another machine.
void set_generators(serialize::InputArchive& states) {
  Variable state;
  states.read("cpu", state);
  set_rng_state(state);
  if (states.keys().size() == 1) return;
  for (std::size_t i = 0; i < cuda::device_count(); ++i) {
    Variable of_device;
    if (states.try_read("cuda" + std::to_string(i), of_device))
      set_rng_state(of_device, Device(kCUDA, static_cast<DeviceIndex>(i)));
  }
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

}  // namespace

Checkpoint::Checkpoint(std::string path) : path_(std::move(path)) {
  EBB_CHECK(!path_.empty(), "Checkpoint: the path is empty.");
}

Variable Checkpoint::floats(const std::vector<double>& values) { return vector_of(values, kDouble); }
Variable Checkpoint::integers(const std::vector<std::int64_t>& values) { return vector_of(values, kLong); }

Variable Checkpoint::value_in(serialize::InputArchive& archive, DType dtype) {
  Variable value;
  archive.read("value", value);
  EBB_CHECK(value.scalar_type() == dtype && value.dim() == 1, "Checkpoint: a value is of dtype ",
            value.scalar_type(), " and shape ", value.sizes(), "; expected ", dtype, " of one dimension.");
  return value;
}

Checkpoint& Checkpoint::add_part(Part part) {
  EBB_CHECK(is_name(part.name), "Checkpoint::add: \"", part.name,
            "\" is not a valid name. Use letters, digits, '_' and '-'.");
  EBB_CHECK(part.name != kGenerators,
            "Checkpoint::add: the name \"rng\" is reserved for the default generators. Use another name.");
  for (const Part& other : parts_)
    EBB_CHECK(other.name != part.name, "Checkpoint::add: there is a part \"", part.name, "\" already.");
  parts_.push_back(std::move(part));
  return *this;
}

Checkpoint& Checkpoint::add(const std::string& name, Variable& value) {
  // An undefined tensor is not written. If the file has no "value", load() makes the tensor undefined again.
  const auto save = [&value](serialize::OutputArchive& to) {
    if (value.defined()) to.write("value", value);
  };
  const auto load = [&value](serialize::InputArchive& from) {
    Variable stored;
    from.try_read("value", stored);
    NoGradGuard no_grad;
    if (value.defined() && stored.defined() && value.sizes() == stored.sizes() &&
        value.scalar_type() == stored.scalar_type())
      value.copy_(stored);
    else
      value = std::move(stored);
  };
  return add_part({name, save, load});
}

Checkpoint& Checkpoint::add(const std::string& name, std::string& value) {
  const auto save = [&value](serialize::OutputArchive& to) {
    to.write("value", vector_of(std::vector<std::uint8_t>(value.begin(), value.end()), kByte));
  };
  const auto load = [&value](serialize::InputArchive& from) {
    const Variable stored = value_in(from, kByte);
    const auto* bytes = stored.data_ptr<std::uint8_t>();
    value.assign(bytes, bytes + stored.numel());
  };
  return add_part({name, save, load});
}

Checkpoint& Checkpoint::add(const std::string& name, Generator& generator) {
  return add_part(
      {name, [&generator](serialize::OutputArchive& to) { to.write("value", get_rng_state(generator)); },
       [&generator](serialize::InputArchive& from) {
         Variable state;
         from.read("value", state);
         set_rng_state(state, generator);
       }});
}

serialize::OutputArchive Checkpoint::contents() const {
  serialize::OutputArchive all;
  for (const Part& part : parts_) {
    serialize::OutputArchive archive;
    part.save(archive);
    all.write(part.name, archive);
  }
  all.write(kGenerators, generator_states(all.tensors()));
  return all;
}

void Checkpoint::take(serialize::InputArchive& archive) {
  for (const Part& part : parts_) {
    serialize::InputArchive nested;
    archive.try_read(part.name, nested);  // a part without tensors is not in the file
    part.load(nested);
  }
  // The generators come last, because loading a part may draw random values.
  serialize::InputArchive states;
  archive.read(kGenerators, states);
  set_generators(states);
}

void Checkpoint::save() const {
  safetensors::Metadata metadata{{"format", kFormat}, {"version", kVersion}};
  for (const Part& part : parts_) metadata[kPart + part.name] = "";
  const safetensors::Contents all = safetensors::each_once(contents().tensors(), std::move(metadata));
  safetensors::write(path_, all.tensors, all.metadata);
}

bool Checkpoint::load() {
  std::error_code unreadable;  // ignored, because the reader reports it
  if (!std::filesystem::exists(path_, unreadable) && !unreadable) return false;
  safetensors::File file = safetensors::read(path_);
  const auto format = file.metadata.find("format"), version = file.metadata.find("version");
  EBB_CHECK(format != file.metadata.end() && format->second == kFormat, "Checkpoint::load: \"", path_,
            "\" is not a checkpoint. ebb::load(model, path) loads a file of weights into a model.");
  EBB_CHECK(version != file.metadata.end() && version->second == kVersion, "Checkpoint::load: \"", path_,
            "\" is of a version that this ebb does not read; it reads version ", kVersion, ".");

  std::vector<std::string> held, lacking;
  for (const auto& item : file.metadata)
    if (item.first.starts_with(kPart)) held.push_back(item.first.substr(std::string(kPart).size()));
  for (const Part& part : parts_) {
    const auto found = std::find(held.begin(), held.end(), part.name);
    if (found == held.end())
      lacking.push_back(part.name);
    else
      held.erase(found);
  }
  EBB_CHECK(held.empty() && lacking.empty(), "Checkpoint::load: \"", path_,
            "\" does not contain exactly the parts that were added. Not in the file: ", listed(lacking),
            ". Only in the file: ", listed(held), ".");

  NamedTensors before;
  {
    NoGradGuard no_grad;
    const serialize::OutputArchive now = contents();
    for (const auto& [name, tensor] : now.tensors()) before.emplace_back(name, tensor.clone());
  }
  serialize::InputArchive archive(safetensors::every_name(std::move(file.tensors), file.metadata));
  serialize::InputArchive back(std::move(before));
  try {
    take(archive);
  } catch (const Error& e) {
    take(back);
    throw Error(std::string(e.what()) + "\nFile: \"" + path_ + "\". Everything is as it was before.");
  } catch (...) {  // std::bad_alloc, or an exception of a part
    take(back);
    throw;
  }
  return true;
}

}  // namespace ebb
