// Checkpoint: the state of a training run in a file, from which the run can resume.
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

/// Saves the complete state of a training run in one file. A run that is stopped at any moment and started
/// again gives the same results as an uninterrupted run, bit for bit.
///
///     Checkpoint run("run.ckpt");
///     run.add("model", model).add("optimizer", optimizer).add("scheduler", scheduler);
///     run.add("data", loader).add("epoch", epoch);
///     run.load();  // resumes if the file exists, else changes nothing
///     for (; epoch < epochs; ++epoch)
///       for (auto& batch : *loader) {
///         train_on(batch);
///         if (++step % 100 == 0) run.save();
///       }
///
/// The file always contains the state of the CPU's default generator. For each CUDA device that has one of
/// the tensors, it also contains the state of the device's generator. The file has the safetensors format.
/// Tensors are named "part.name", and the metadata lists the parts. Parts are stored by reference and must
/// outlive the Checkpoint.
class EBB_API Checkpoint {
 public:
  explicit Checkpoint(std::string path);

  /// Adds a part: a module, an optimizer (with its options), a scheduler, a GradScaler, a sampler, a loader
  /// (with its order and its position), or any object with `save(OutputArchive&) const` and
  /// `load(InputArchive&)`. A holder of such an object or a pointer to it works too. A name consists of
  /// letters, digits, "_" and "-", and can be used once. The name "rng" is reserved.
  template <class T>
  Checkpoint& add(const std::string& name, T& part);
  template <class T>
    requires(!std::is_reference_v<T>)
  Checkpoint& add(const std::string&, T&&) {
    static_assert(sizeof(T) == 0,
                  "Checkpoint::add keeps a reference: give it a variable, which outlives the Checkpoint.");
    return *this;
  }
  /// Adds a value, which load() replaces with the value in the file. A tensor keeps its memory if its dtype
  /// and shape are those of the file. The tensor may be undefined.
  Checkpoint& add(const std::string& name, Variable& value);
  Checkpoint& add(const std::string& name, std::string& value);
  template <class T>
    requires std::is_arithmetic_v<T>
  Checkpoint& add(const std::string& name, T& value);
  template <class T>
    requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
  Checkpoint& add(const std::string& name, std::vector<T>& values);
  /// Adds a generator that is not a default generator.
  Checkpoint& add(const std::string& name, Generator& generator);

  /// Writes all parts to the file. The old file is replaced atomically: after a crash at any moment, either
  /// the old file or the new one is complete. Throws if the file cannot be written.
  void save() const;
  /// Reads all parts from the file. Returns false, and does nothing, if there is no file. Throws, and changes
  /// nothing, if the file has other parts than those that were added, or if a part does not fit.
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
  /// Reads the tensor "value", which has one dimension and the dtype `dtype`.
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
                  "Checkpoint::add takes an object with save(OutputArchive&) const and load(InputArchive&).");
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
