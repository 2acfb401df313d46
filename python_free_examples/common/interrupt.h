// Ctrl-C: the first one ends an example between two steps, the second one immediately.
#pragma once

#include <stdexcept>

namespace example {

/// Thrown after Ctrl-C to end an example. what() says which state has been saved.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Makes stop_if_interrupted() react to Ctrl-C, unless the program was started with SIGINT ignored.
void hear_interrupts();

/// Throws Interrupted if Ctrl-C was pressed. Every long loop calls this function between two steps.
void stop_if_interrupted();

}  // namespace example
