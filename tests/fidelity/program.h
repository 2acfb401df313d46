// The programs that are built into one executable: each registers itself, and main.cpp runs them by name.
#pragma once

#include <string>

namespace fidelity {

/// Stands in a namespace of the program's name, so that programs of one executable may use equal names.
class Program {
 public:
  Program(const char* name, void (*run)());
};

/// The name of the program that runs.
const std::string& running();

}  // namespace fidelity
