// Emits the files of a tape: source, header and weights.
#include "compile/emit.h"

#include "io/atomic_file.h"

#include <cctype>

namespace ebb::detail::compile {
namespace {

void save(const std::string& path, const std::string& text) {
  io::AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

// The names of the files and of the class, derived from the path.
struct Names {
  std::string stem;        // the path without ".cpp"
  std::string file;        // the stem without its folder
  std::string class_name;  // "conv-net" is the class ConvNet

  explicit Names(const std::string& path) {
    EBB_CHECK(path.ends_with(".cpp"), "Compiled::emit: expected a path that ends with .cpp, got ", path, ".");
    stem = path.substr(0, path.size() - 4);
    file = stem.substr(stem.find_last_of('/') + 1);
    bool begins = true;
    for (const char c : file) {
      const auto u = static_cast<unsigned char>(c);
      if (std::isalnum(u)) class_name += begins ? static_cast<char>(std::toupper(u)) : c;
      begins = !std::isalnum(u);
    }
    EBB_CHECK(!class_name.empty() && !std::isdigit(static_cast<unsigned char>(class_name[0])),
              "Compiled::emit: no class can be named after ", path,
              ". Let the file's name begin with a letter.");
  }
};

void check_can_be_emitted(const Tape& tape) {
  const auto leaves = [](const TapeLeaf& leaf) { return leaf.sets_gradient; };
  EBB_CHECK(
      std::none_of(tape.leaves.begin(), tape.leaves.end(), leaves),
      "Compiled::emit: the function adds to gradients of tensors, which an emitted source cannot do. Return "
      "the result of autograd::grad() instead of calling backward().");
  for (const Buffer& buffer : tape.buffers)
    EBB_CHECK(buffer.placeholder->device().is_cpu(), "Compiled::emit: the function computes on ",
              buffer.placeholder->device(), ". Move its tensors and its arguments to the CPU.");
  for (const TapeCall& call : tape.calls) {
    const char* const name = call.call->name();
    EBB_CHECK(call.call->slot(), "Compiled::emit: ", name,
              " is more than a kernel call (an optimizer's step, or a check of values). Emit a function "
              "without this call.");
    EBB_CHECK(call.allocated.empty(), "Compiled::emit: ", name,
              " allocates its own result, whose size depends on values. Emit a function without this call.");
  }
}

std::string described(DType dtype, IntArrayRef sizes, IntArrayRef strides) {
  if (dtype == DType::Undefined) return "undefined";
  const bool contiguous = strides == IntArrayRef(contiguous_strides(sizes));
  return contiguous ? detail::text(dtype, " ", sizes)
                    : detail::text(dtype, " ", sizes, " with strides ", strides);
}

// The interface of the emitted class: parameters, results and their documentation.
struct Interface {
  std::string comment, parameters, arguments, result;
  std::size_t results;

  Interface(const Tape& tape, const std::vector<emitted::Argument>& wanted) : results(tape.outputs.size()) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::string name = "x" + std::to_string(i);
      comment +=
          "/// " + name + ": " + described(wanted[i].dtype, wanted[i].sizes, wanted[i].strides) + ".\n";
      parameters += (i ? ", const ebb::Tensor& " : "const ebb::Tensor& ") + name;
      arguments += (i ? ", " : "") + name;
    }
    std::string types, gives;
    for (const TapeOutput& each : tape.outputs) {
      const NdArray& y = each.tensor.array;
      types += types.empty() ? "ebb::Tensor" : ", ebb::Tensor";
      gives += (gives.empty() ? "" : ", ") + described(y.dtype(), y.sizes(), y.strides());
    }
    comment += "/// Gives " + (gives.empty() ? "nothing" : gives) + ".\n";
    result = results == 0 ? "void" : results == 1 ? types : "std::tuple<" + types + ">";
  }
};

// Replaces each placeholder in the text by its value.
std::string filled(std::string text, std::initializer_list<std::pair<std::string_view, std::string>> values) {
  for (const auto& [mark, value] : values)
    for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos; at += value.size())
      text.replace(at, mark.size(), value);
  return text;
}

constexpr char kHeader[] =
    R"(// Kernel calls of a function that ebb recorded (Compiled::emit), as a class. Emit it again, do not edit it.
#pragma once

#include <ebb/autograd/variable.h>

#include <memory>
#include <string>
#include <tuple>

namespace ebb::emitted {
class Plan;
}

@comment@/// Results are part of no graph. An object is for one thread at a time, and has weights of its own.
class @class@ {
 public:
  /// The mark of the calls, which the source and a file of weights that is emitted with it have, too.
  static constexpr unsigned long long emitted_as = @mark@u;

  @constructor@
  @class@(@class@&&) noexcept;
  @class@& operator=(@class@&&) noexcept;
  ~@class@();

  @result@ operator()(@parameters@);

 private:
  std::unique_ptr<ebb::emitted::Plan> plan_;
};
)";

constexpr char kSource[] =
    R"(// Kernel calls of a function that ebb recorded (Compiled::emit). Emit it again, do not edit it.
#include "@file@.h"

#include "compile/emitted.h"

static_assert(@class@::emitted_as == @mark@u, "the header was emitted with another source; emit both again");

namespace ebb::emitted {
namespace {

class Calls final : public Plan {
 public:
  explicit Calls(const std::string& weights) : Plan("@class@", weights, @mark@u, @arena@, {@wanted@}) {}

 private:
  void run() override {
@calls@  }
  std::vector<Variable> results() override { return {@results@}; }

@arrays@};

}  // namespace
}  // namespace ebb::emitted

@class@::@class@(@weights@) : plan_(std::make_unique<ebb::emitted::Calls>(@path@)) {}
@class@::@class@(@class@&&) noexcept = default;
@class@& @class@::operator=(@class@&&) noexcept = default;
@class@::~@class@() = default;

@result@ @class@::operator()(@parameters@) {
  @body@
}
)";

std::string wanted_text(const std::vector<emitted::Argument>& wanted) {
  std::string text;
  for (const emitted::Argument& x : wanted)
    text += (text.empty() ? "{" : ", {") +
            (x.dtype == DType::Undefined
                 ? std::string()
                 : detail::text("k", x.dtype, ", ", list_text(x.sizes), ", ", list_text(x.strides), ", ",
                                x.offset, ", ", x.shares, ", ", x.writes)) +
            "}";
  return text;
}

// Returns the FNV-1a hash of the text.
std::uint64_t mark_of(const std::string& text) {
  std::uint64_t mark = 0xcbf29ce484222325u;
  for (const char c : text) mark = (mark ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return mark;
}

std::string body_of(const Interface& interface) {
  const std::string call = "plan_->call({" + interface.arguments + "})";
  if (interface.results == 0) return call + ";";
  if (interface.results == 1) return "return " + call + "[0];";
  std::string list;
  for (std::size_t i = 0; i < interface.results; ++i) list += (i ? ", y[" : "y[") + std::to_string(i) + "]";
  return "const std::vector<ebb::Tensor> y = " + call + ";\n  return {" + list + "};";
}

}  // namespace

std::vector<emitted::Argument> arguments_of(const std::vector<Variable>& tensors) {
  std::vector<emitted::Argument> all;
  for (const Variable& x : tensors) {
    emitted::Argument& each = all.emplace_back();
    if (!x.defined()) continue;
    each.dtype = x.dtype();
    each.sizes = x.sizes();
    each.strides = x.strides();
    each.offset = x.array().offset();
    for (std::size_t first = 0; first + 1 < all.size() && each.shares < 0; ++first)
      if (tensors[first].defined() && tensors[first].is_alias_of(x)) each.shares = static_cast<int>(first);
  }
  return all;
}

void emit(const Tape& tape, std::vector<emitted::Argument> arguments, const std::string& path) {
  const Names names(path);
  check_can_be_emitted(tape);
  for (const int at : tape.arguments) {
    const Buffer& buffer = tape.buffers[static_cast<std::size_t>(at)];
    const auto which = static_cast<std::size_t>(buffer.input);
    arguments[which].writes = std::max(buffer.version_bumps, buffer.written ? 1U : 0U);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i].offset = tape.input_offsets[i];
  const SourceParts parts(tape);
  const Interface interface(tape, arguments);
  const std::string weights = names.file + ".safetensors";
  const bool reads = !parts.weights().empty();
  const std::string constructor =
      reads ? "explicit " + names.class_name + "(const std::string& weights = \"" + weights + "\");"
            : names.class_name + "();";
  // Each file is replaced atomically, but not the three files together. Each file therefore contains the mark
  // of the calls, so that files of different calls are detected.
  const std::string mark =
      std::to_string(mark_of(parts.arrays() + parts.calls() + parts.results() + interface.comment));
  if (reads) safetensors::write(names.stem + ".safetensors", parts.weights(), {{"emitted_as", mark}});
  save(names.stem + ".h", filled(kHeader, {{"@comment@", interface.comment},
                                           {"@constructor@", constructor},
                                           {"@class@", names.class_name},
                                           {"@mark@", mark},
                                           {"@result@", interface.result},
                                           {"@parameters@", interface.parameters}}));
  save(path, filled(kSource, {{"@file@", names.file},
                              {"@class@", names.class_name},
                              {"@mark@", mark},
                              {"@arena@", std::to_string(parts.arena_bytes())},
                              {"@wanted@", wanted_text(arguments)},
                              {"@calls@", parts.calls()},
                              {"@results@", parts.results()},
                              {"@arrays@", parts.arrays()},
                              {"@weights@", reads ? "const std::string& weights" : ""},
                              {"@path@", reads ? "weights" : "std::string()"},
                              {"@result@", interface.result},
                              {"@parameters@", interface.parameters},
                              {"@body@", body_of(interface)}}));
}

}  // namespace ebb::detail::compile
