// Fields: prints a module as "ebb::nn::Linear(in_features=3, out_features=4, bias=true)".
#pragma once

#include <ebb/nn/expanding_array.h>

#include "nn/module_tools.h"

#include <ostream>
#include <string>
#include <vector>

namespace ebb::nn {

/// Writes the module's name in the constructor. The calls that follow write the fields in brackets.
class Fields {
 public:
  Fields(std::ostream& stream, const std::type_info& module) : stream_(stream) {
    stream_ << handle_name(module);
  }
  ~Fields() { stream_ << (state_ == State::empty ? "()" : state_ == State::some ? ")" : ""); }
  Fields(const Fields&) = delete;
  Fields& operator=(const Fields&) = delete;

  /// Writes "name=value".
  template <class T>
  Fields& operator()(const char* name, const T& value) {
    next() << name << '=';
    return write(value);
  }
  /// Writes the value without a name.
  template <class T>
  Fields& operator()(const T& value) {
    next();
    return write(value);
  }
  /// Writes "name=true" if `value` is true, and nothing otherwise.
  Fields& flag(const char* name, bool value) { return value ? (*this)(name, value) : *this; }
  /// Omits the brackets.
  void none() { state_ = State::none; }

 private:
  enum class State : unsigned char { empty, some, none };

  std::ostream& next() {
    stream_ << (state_ == State::empty ? "(" : state_ == State::some ? ", " : "");
    if (state_ == State::empty) state_ = State::some;
    return stream_;
  }
  template <class T>
  Fields& write(const T& value) {
    stream_ << value;
    return *this;
  }
  Fields& write(bool value) {
    stream_ << (value ? "true" : "false");
    return *this;
  }
  template <class T>
  Fields& write(const std::vector<T>& values) {
    stream_ << '[';
    const char* separator = "";
    for (const T& value : values) {
      stream_ << separator << value;
      separator = ", ";
    }
    stream_ << ']';
    return *this;
  }
  template <std::size_t D>
  Fields& write(const ExpandingArray<D>& values) {
    std::string text;
    append_text(text, values);
    stream_ << text;
    return *this;
  }
  template <std::size_t D>
  Fields& write(const ExpandingArrayWithOptionalElem<D>& values) {
    const char* separator = "[";
    for (const auto& value : *values) {
      stream_ << separator << (value ? std::to_string(*value) : "None");
      separator = ", ";
    }
    stream_ << ']';
    return *this;
  }
  template <class T>
  Fields& write(const optional<T>& value) {
    if (value) return write(*value);
    stream_ << "None";
    return *this;
  }

  std::ostream& stream_;
  State state_ = State::empty;
};

}  // namespace ebb::nn
