// libpng's errors as ebb's.
#pragma once

#include <ebb/core/error.h>

#include <png.h>

#include <csetjmp>
#include <string>

namespace ebb::vision::codecs {

/// Is given to libpng as where its errors go. libpng leaves its functions by an error that must not return:
/// it jumps back into guard(), and only there, with no frame of libpng's left, is ebb::Error thrown.
class PngErrors {
 public:
  PngErrors() = default;
  PngErrors(const PngErrors&) = delete;
  PngErrors& operator=(const PngErrors&) = delete;

  /// Calls f, which calls libpng and, since a jump may end it, makes no object that has a destructor. Errors
  /// begin with `problem`.
  template <class F>
  void guard(const std::string& problem, F&& f) {
    if (setjmp(back_) != 0) ebb::detail::fail(problem, ": ", text_, ".");
    f();
  }

  // For png_create_read_struct and png_create_write_struct.
  static void jump_back(png_structp png, png_const_charp message) {
    auto* const errors = static_cast<PngErrors*>(png_get_error_ptr(png));
    std::size_t n = 0;
    for (; message[n] != '\0' && n + 1 < sizeof errors->text_; ++n) errors->text_[n] = message[n];
    errors->text_[n] = '\0';
    std::longjmp(errors->back_, 1);
  }
  static void ignore(png_structp, png_const_charp) {}

 private:
  std::jmp_buf back_;
  char text_[128] = "";
};

}  // namespace ebb::vision::codecs
