// Whether a module trains, in such a way that what depends on it can tell.
#pragma once

#include <ebb/core/api.h>

#include <cstdint>

namespace ebb::nn::detail {

/// True at first. All flags of the program together have a fingerprint, which is what it was when each is
/// what it was: functions recorded by ebb::compile are those of one such state.
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

/// Of all flags.
EBB_API std::uint64_t training_fingerprint() noexcept;

}  // namespace ebb::nn::detail
