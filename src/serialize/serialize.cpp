// save() and load(): modules, optimizers and tensors.
#include <ebb/serialize.h>

#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/copy.h>

#include <algorithm>
#include <unordered_map>

#include "io/safetensors_format.h"
#include "nn/load_state.h"

namespace ebb {
namespace {

using safetensors::NamedTensors;
using safetensors::Reader;

// A module's tensors, each once. Of further names of one the metadata says which it has, as
// safetensors.torch.save_model does.
struct Contents {
  NamedTensors tensors;
  safetensors::Metadata metadata{{"format", "pt"}};
};

Contents contents_of(const nn::Module& module) {
  Contents contents;
  std::unordered_multimap<const void*, std::size_t> at;
  for (const auto& item : module.state_dict()) {
    const void* const data = item->array().data();
    const auto [first, last] = at.equal_range(data);
    const auto same = std::find_if(first, last, [&](const auto& other) {
      return nn::shared(contents.tensors[other.second].second, *item);
    });
    if (same != last) {
      contents.metadata[item.key()] = contents.tensors[same->second].first;
    } else {
      at.emplace(data, contents.tensors.size());
      contents.tensors.emplace_back(item.key(), item.value());
    }
  }
  return contents;
}

NamedTensors numbered(const std::vector<Variable>& tensors) {
  NamedTensors named;
  for (std::size_t i = 0; i < tensors.size(); ++i) named.emplace_back(std::to_string(i), tensors[i]);
  return named;
}

// A file as the state of a module: its tensors go one by one to where the module's are.
class FileState final : public nn::StateSource {
 public:
  explicit FileState(const Reader& file) : file_(file) {}

  std::vector<std::string> keys() const override { return file_.keys(); }
  optional<Info> info(const std::string& name_asked) const override {
    const std::string& key = stored(name_asked);
    if (!file_.contains(key)) return nullopt;
    const std::string dtype = file_.dtype(key);
    if (!file_.is_supported(key)) return Info{{}, DType::Undefined, safetensors::unsupported_text(dtype)};
    Info info{DimVector(IntArrayRef(file_.sizes(key))), safetensors::format_named(dtype)->dtype, {}};
    if (info.dtype != kBool) return info;
    // Of booleans the bytes may be wrong, too, which must be known before anything is written.
    try {
      file_.get_tensor(key);
    } catch (const Error& e) {
      info.obstacle = ": " + std::string(e.what());
    }
    return info;
  }
  Variable tensor(const std::string& key, const Variable& old) const override {
    return file_.get_tensor(stored(key)).to(old.device());
  }
  void copy_to(const std::string& key, Variable& target) const override {
    file_.read_into(stored(key), target);
  }

 private:
  // The name under which the file has a tensor of several names.
  const std::string& stored(const std::string& key) const {
    if (file_.contains(key)) return key;
    const auto other = file_.metadata().find(key);
    return other != file_.metadata().end() && file_.contains(other->second) ? other->second : key;
  }

  const Reader& file_;
};

// A tensor handed out keeps its requires_grad.
void assign(Variable& to, const Variable& file, optional<Device> device) {
  Variable from = device ? file.to(*device) : file;
  const bool requires_grad = to.defined() && to.requires_grad();
  to = std::move(from);
  if (requires_grad) to.requires_grad_();
}

void restore(Variable& to, const Reader& file, optional<Device> device) {
  assign(to, file.get_tensor("tensor"), device);
}

void restore(std::vector<Variable>& to, const Reader& file, optional<Device> device) {
  std::vector<Variable> tensors(file.keys().size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i < to.size()) tensors[i] = to[i];
    assign(tensors[i], file.get_tensor(std::to_string(i)), device);
  }
  to = std::move(tensors);
}

void restore(optim::Optimizer& to, const Reader& file) {
  NamedTensors state;
  for (const std::string& name : file.keys()) state.emplace_back(name, file.get_tensor(name));
  serialize::InputArchive archive(std::move(state));
  to.load(archive);
}

NamedTensors tensors_of(const optim::Optimizer& optimizer) {
  serialize::OutputArchive archive;
  optimizer.save(archive);
  return archive.tensors();
}

// Says whose file it was when what it holds does not fit.
template <class Body>
auto from_file(const std::string& path, const Body& body) {
  const Reader file(path);
  try {
    return body(file);
  } catch (const Error& e) {
    const std::string what = e.what();
    if (what.find("\"" + path + "\"") != std::string::npos) throw;
    throw Error(what + "\nFile: \"" + path + "\".");
  }
}

template <class T, class... How>
void restore_from(T& to, const std::string& path, How... how) {
  from_file(path, [&](const Reader& file) { restore(to, file, how...); });
}

}  // namespace

void save(const nn::Module& module, const std::string& path) {
  const Contents contents = contents_of(module);
  safetensors::write(path, contents.tensors, contents.metadata);
}
void save(const nn::Module& module, std::ostream& stream) {
  const Contents contents = contents_of(module);
  safetensors::write(stream, contents.tensors, contents.metadata);
}
nn::IncompatibleKeys load(nn::Module& module, const std::string& path, bool strict, bool assign) {
  return from_file(path,
                   [&](const Reader& file) { return load_state(module, FileState(file), strict, assign); });
}
nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, bool strict, bool assign) {
  const Reader file(stream);
  return load_state(module, FileState(file), strict, assign);
}

nn::IncompatibleKeys load(nn::Module& module, const std::string& path, Device device) {
  module.to(device);
  return load(module, path);
}
nn::IncompatibleKeys load(nn::Module& module, std::istream& stream, Device device) {
  module.to(device);
  return load(module, stream);
}

void save(const optim::Optimizer& optimizer, const std::string& path) {
  safetensors::write(path, tensors_of(optimizer));
}
void save(const optim::Optimizer& optimizer, std::ostream& stream) {
  safetensors::write(stream, tensors_of(optimizer));
}
void load(optim::Optimizer& optimizer, const std::string& path) { restore_from(optimizer, path); }
void load(optim::Optimizer& optimizer, std::istream& stream) { restore(optimizer, Reader(stream)); }

void save(const Variable& tensor, const std::string& path) { safetensors::write(path, {{"tensor", tensor}}); }
void save(const Variable& tensor, std::ostream& stream) { safetensors::write(stream, {{"tensor", tensor}}); }
void load(Variable& tensor, const std::string& path, optional<Device> device) {
  restore_from(tensor, path, device);
}
void load(Variable& tensor, std::istream& stream, optional<Device> device) {
  restore(tensor, Reader(stream), device);
}

void save(const std::vector<Variable>& tensors, const std::string& path) {
  safetensors::write(path, numbered(tensors));
}
void save(const std::vector<Variable>& tensors, std::ostream& stream) {
  safetensors::write(stream, numbered(tensors));
}
void load(std::vector<Variable>& tensors, const std::string& path, optional<Device> device) {
  restore_from(tensors, path, device);
}
void load(std::vector<Variable>& tensors, std::istream& stream, optional<Device> device) {
  restore(tensors, Reader(stream), device);
}

}  // namespace ebb
