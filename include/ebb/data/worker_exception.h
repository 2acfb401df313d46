// What a loader throws for an error in one of its workers.
#pragma once

#include <ebb/core/error.h>

#include <exception>
#include <string>

namespace ebb::data {

/// Carries the error that a worker ran into; what() has its message.
struct EBB_API WorkerException : Error {
  explicit WorkerException(std::exception_ptr original)
      : Error("Caught exception in DataLoader worker thread. Original message: " + message_of(original)),
        original_exception(std::move(original)) {}

  std::exception_ptr original_exception;

 private:
  static std::string message_of(const std::exception_ptr& error) {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      return e.what();
    } catch (...) {
      return "not a std::exception";
    }
  }
};

}  // namespace ebb::data
