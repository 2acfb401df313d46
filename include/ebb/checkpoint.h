// Checkpoint: a training run in a file, to go on from after whatever ended it.
#pragma once

#include <ebb/archive.h>
#include <ebb/autograd/variable.h>
#include <ebb/core/random.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace ebb {

/// All that a training run is, in one file: a run that was ended at any moment and started again does what it
/// would have done, bit for bit.
///
///     Checkpoint run("run.ckpt");
///     run.add("model", model).add("optimizer", optimizer).add("scheduler", scheduler);
///     run.add("data", loader).add("epoch", epoch);
///     run.load();  // goes on if there is a file, else leaves all as it is
///     for (; epoch < epochs; ++epoch)
///       for (auto& batch : *loader) {
///         train_on(batch);
///         if (++step % 100 == 0) run.save();
///       }
///
/// The state of the CPU's default generator is always in it, and that of every CUDA device whose memory holds
/// one of the tensors. The file is one of safetensors, its names "part.name", whose metadata says which parts
/// there are. What is added is kept by reference and must outlive the Checkpoint.
class EBB_API Checkpoint {
 public:
  explicit Checkpoint(std::string path);

  /// A module, an optimizer (with its options), a scheduler, GradScaler, sampler, a loader (its order and how
  /// far it has come in it), or anything with `save(OutputArchive&) const` and `load(InputArchive&)`; also a
  /// holder of or a pointer to one. Names are letters, digits, "_" and "-", each once; "rng" is taken.
  template <class T>
  Checkpoint& add(const std::string& name, T& part);
  template <class T>
    requires(!std::is_reference_v<T>)
  Checkpoint& add(const std::string&, T&&) {
    static_assert(sizeof(T) == 0,
                  "Checkpoint::add keeps a reference: give it a variable, which outlives the Checkpoint.");
    return *this;
  }
  /// A value: after load() it is that of the file. A tensor keeps its place if dtype and shape agree; it may
  /// be undefined.
  Checkpoint& add(const std::string& name, Variable& value);
  Checkpoint& add(const std::string& name, std::string& value);
  template <class T>
    requires std::is_arithmetic_v<T>
  Checkpoint& add(const std::string& name, T& value);
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
  Checkpoint& add(const std::string& name, std::vector<T>& values);
  /// A generator of one's own.
  Checkpoint& add(const std::string& name, Generator& generator);

  /// Puts everything into the file. The file there stands, whole, until the new one does: an end at any
  /// moment leaves the one or the other. Throws if it cannot be written.
  void save() const;
  /// Takes everything from the file; false, and nothing is done, if there is none. A file with other parts
  /// than were added, or that does not fit them, throws and leaves everything as it was.
  bool load();
  const std::string& path() const { return path_; }

 private:
  struct Part {
    std::string name;
    std::function<void(serialize::OutputArchive&)> save;
    std::function<void(serialize::InputArchive&)> load;
  };
  static Variable floats(const std::vector<double>& values);
  static Variable integers(const std::vector<std::int64_t>& values);
  /// The tensor "value", of one dimension and of the dtype of the example.
  static Variable value_in(serialize::InputArchive& archive, DType dtype);

  Checkpoint& add_part(Part part);
  serialize::OutputArchive contents() const;
  void take(serialize::InputArchive& archive);

  std::string path_;
  std::vector<Part> parts_;
};

template <class T>
Checkpoint& Checkpoint::add(const std::string& name, T& part) {
  if constexpr (serialize::Archived<T>) {
    return add_part({name, [&part](serialize::OutputArchive& to) { part.save(to); },
                     [&part](serialize::InputArchive& from) { part.load(from); }});
  } else if constexpr (requires { *part; }) {
    return add(name, *part);
  } else {
    static_assert(sizeof(T) == 0,
                  "Checkpoint::add takes what has save(OutputArchive&) const and load(InputArchive&).");
    return *this;
  }
}

template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
Checkpoint& Checkpoint::add(const std::string& name, std::vector<T>& values) {
  using Stored = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  const auto save = [&values](serialize::OutputArchive& to) {
    const std::vector<Stored> stored(values.begin(), values.end());
    if constexpr (std::is_floating_point_v<T>)
      to.write("value", floats(stored));
    else
      to.write("value", integers(stored));
  };
  const auto load = [&values](serialize::InputArchive& from) {
    const Variable stored = value_in(from, std::is_floating_point_v<T> ? kDouble : kLong);
    values.clear();
    for (std::int64_t i = 0; i < stored.numel(); ++i)
      values.push_back(static_cast<T>(stored.data_ptr<Stored>()[i]));
  };
  return add_part({name, save, load});
}

template <class T>
  requires std::is_arithmetic_v<T>
Checkpoint& Checkpoint::add(const std::string& name, T& value) {
  const auto save = [&value](serialize::OutputArchive& to) {
    if constexpr (std::is_floating_point_v<T>)
      to.write("value", floats({static_cast<double>(value)}));
    else
      to.write("value", integers({static_cast<std::int64_t>(value)}));
  };
  const auto load = [&value](serialize::InputArchive& from) {
    if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(value_in(from, kDouble).item<double>());
    else
      value = static_cast<T>(value_in(from, kLong).item<std::int64_t>());
  };
  return add_part({name, save, load});
}

}  // namespace ebb
