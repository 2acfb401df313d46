// Ctrl-C: the first ends an example between two steps, the second at once.
#pragma once

#include <stdexcept>

namespace example {

/// Ends an example that Ctrl-C has stopped. what() says what is kept.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// From now on Ctrl-C is heard by stop_if_interrupted(). A program that was started deaf to it stays so.
void hear_interrupts();

/// Throws Interrupted if Ctrl-C was pressed. Every loop that lasts calls it between two steps.
void stop_if_interrupted();

}  // namespace example
