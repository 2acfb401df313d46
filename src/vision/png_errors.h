// PngErrors: converts errors of libpng to ebb::Error.
#pragma once

#include <ebb/core/error.h>

#include <png.h>

#include <csetjmp>
#include <string>

namespace ebb::vision::codecs {

/// The error handler of libpng, which must not return. It jumps back into guard(), which throws ebb::Error
/// there, because an exception must not pass through libpng's frames.
class PngErrors {
 public:
  PngErrors() = default;
  PngErrors(const PngErrors&) = delete;
  PngErrors& operator=(const PngErrors&) = delete;

  /// Calls f, which calls libpng. A jump may end f, so f must not construct objects with destructors. Errors
  /// begin with `problem`.
  template <class F>
  void guard(const std::string& problem, F&& f) {
    if (setjmp(back_) != 0) ebb::detail::fail(problem, ": ", text_, ".");
    f();
  }

  // The error function for png_create_read_struct and png_create_write_struct.
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
