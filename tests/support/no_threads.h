// A system that refuses every thread.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace support {

/// While it lives, threads get stacks that are larger than the address space.
class NoThreads {
 public:
  NoThreads() {
    pthread_attr_init(&wanted_);
    pthread_getattr_default_np(&wanted_);
    pthread_attr_getstacksize(&wanted_, &before_);
    set(std::size_t{1} << 56);
  }
  ~NoThreads() {
    set(before_);
    pthread_attr_destroy(&wanted_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  void set(std::size_t bytes) {
    pthread_attr_setstacksize(&wanted_, bytes);
    pthread_setattr_default_np(&wanted_);
  }
  pthread_attr_t wanted_;
  std::size_t before_ = 0;
};

}  // namespace support
