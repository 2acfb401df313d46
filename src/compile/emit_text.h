// The arguments of a kept call, and its slot, as C++.
#pragma once

#include <functional>
#include <string>
#include <typeinfo>
#include <vector>

#include "kernel/kept_call.h"

namespace ebb::compiling {

/// The slot as a source of namespace ebb names it: "kernels::Binary<ops::Add>::slot".
std::string slot_text(const detail::AnySlot& slot);

/// The type as a source of namespace ebb names it: "ops::Gradient<ops::Tanh>".
std::string type_text(const std::type_info& type);

std::string number_text(double value);
std::string number_text(std::int64_t value);

/// Throws ebb::Error where an argument cannot be said: random numbers and bare addresses.
class ArgumentText final : public detail::ArgumentVisitor {
 public:
  /// `name_of` gives the name of an array that is defined.
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

  /// Behind one another, with commas before each.
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

}  // namespace ebb::compiling
