// Emits a tape as a C++ source, with its header and a file of weights.
#pragma once

#include <ebb/io/safetensors.h>

#include "compile/emitted.h"
#include "compile/tape.h"
#include "kernel/call/kept_call.h"

#include <array>
#include <functional>
#include <map>
#include <string>
#include <typeinfo>
#include <vector>

namespace ebb::detail::compile {

/// Returns the name of a slot within namespace ebb, for example "kernels::Binary<ops::Add>::slot".
std::string slot_text(const detail::AnySlot& slot);

/// Returns the name of a type within namespace ebb, for example "ops::Gradient<ops::Tanh>".
std::string type_text(const std::type_info& type);

std::string number_text(double value);
std::string number_text(std::int64_t value);

/// Writes the arguments of a call. Throws ebb::Error for arguments that have no text: random numbers and bare
/// addresses.
class ArgumentText final : public detail::ArgumentVisitor {
 public:
  /// `name_of` returns the name of a defined array.
  ArgumentText(const char* call, const std::function<std::string(const NdArray&)>& name_of)
      : call_(call), name_of_(name_of) {}

  void array(NdArray& array) override;
  void address(void*& at) override;
  void words(Philox& philox) override;
  void plain(const void* bytes, std::size_t count) override;
  void number(const void* value, std::size_t bytes, const std::type_info& type) override;
  void scalar(const Scalar& value) override;
  void text(const char* value) override;
  void open(Group group, const std::type_info& type) override;
  void close() override;

  /// Returns all arguments, each after a comma.
  std::string arguments() const;

 private:
  struct Level {
    Group group;
    const std::type_info* type;
    bool written;
    std::vector<std::string> parts;
  };
  void add(std::string text, bool has_name, bool to_write);
  [[noreturn]] void refuse(const char* what) const;

  const char* call_;
  const std::function<std::string(const NdArray&)>& name_of_;
  std::vector<Level> levels_;
  std::vector<std::string> arguments_;
};

/// The memory plan of the emitted calls. It differs from the tape's plan, because the source runs the calls
/// of fused programs one by one.
class ArenaPlan {
 public:
  explicit ArenaPlan(const Tape& tape);
  std::size_t offset(std::size_t buffer) const { return plan_.buffers[buffer].arena_offset; }
  std::size_t bytes() const { return plan_.arenas.empty() ? 0 : plan_.arenas[0].bytes; }

 private:
  Tape plan_;
};

/// The parts of a source that follow from the tape: arrays, calls, results and weights.
class SourceParts {
 public:
  explicit SourceParts(const Tape& tape);

  /// Returns the members of a class derived from emitted::Plan: one line of text for each array, sorted by
  /// kind of buffer.
  std::string arrays() const;
  /// Returns one line of text for each call.
  const std::string& calls() const { return calls_; }
  /// Returns the results as source text: given(array), given(array), ...
  const std::string& results() const { return results_; }
  /// Returns the tensors that the arrays read from the file of weights.
  const safetensors::NamedTensors& weights() const { return weights_; }
  std::size_t arena_bytes() const { return arena_.bytes(); }

 private:
  struct Named {
    std::string name;  // the name of the first array on the buffer
    int others = 0;
  };
  std::string name_of(const NdArray& array);
  std::string memory(std::size_t at, const std::string& name, const NdArray& array);
  void keep(const std::string& name, const NdArray& array, const void* data, std::size_t bytes);

  const Tape& tape_;
  ArenaPlan arena_;
  std::map<const Storage*, std::size_t> buffers_;  // the key is the placeholder
  std::map<std::size_t, Named> named_;
  std::map<std::string, std::string> by_layout_;  // names of arrays; the key is buffer and layout
  std::map<char, int> count_;                     // the number of names that begin with a letter
  std::array<std::string, 7> arrays_;             // indexed by Buffer::Kind
  std::string calls_, results_;
  safetensors::NamedTensors weights_;
};

/// Returns for example "{32, 784}".
std::string list_text(IntArrayRef list);

/// Describes the arguments of a specialization, including the memory that they share.
std::vector<emitted::Argument> arguments_of(const std::vector<Variable>& tensors);

/// Writes the source to `path`, and next to it a header and, if there are weights, a safetensors file. The
/// assumptions of the tape must hold.
void emit(const Tape& tape, std::vector<emitted::Argument> arguments, const std::string& path);

}  // namespace ebb::detail::compile
