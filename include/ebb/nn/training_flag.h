// TrainingFlag: whether a module is in training mode, as a flag that ebb::compile observes.
#pragma once

#include <ebb/core/api.h>

namespace ebb::nn::detail {

/// The training mode of a module, initially true. A function recorded by ebb::compile is valid only while the
/// same flags are off as during the recording.
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
