// The programs in one executable: each registers itself, and main.cpp runs them by name.
#pragma once

#include <string>

namespace fidelity {

/// Each program is defined in a namespace of its name, so that programs of one executable may use the same
/// names.
class Program {
 public:
  Program(const char* name, void (*run)());
};

/// The name of the running program.
const std::string& running();

}  // namespace fidelity
