// Whether a module trains, in such a way that what depends on it can tell.
#pragma once

#include <ebb/core/api.h>

namespace ebb::nn::detail {

/// True at first. Flags that are off are settings of the program: a function recorded by ebb::compile belongs
/// to one state of all of them.
class EBB_API TrainingFlag {
 public:
  TrainingFlag() = default;
  TrainingFlag(const TrainingFlag& other) { *this = other.on_; }
  ~TrainingFlag() { *this = true; }
  TrainingFlag& operator=(const TrainingFlag& other) { return *this = other.on_; }
  TrainingFlag& operator=(bool on) {
    if (on != on_) flip();
    return *this;
  }
  operator bool() const noexcept { return on_; }

 private:
  void flip() noexcept;
  bool on_ = true;
};

}  // namespace ebb::nn::detail
