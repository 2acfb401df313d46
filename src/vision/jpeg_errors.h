// JpegErrors: converts errors of libjpeg to ebb::Error.
#pragma once

#include <ebb/core/error.h>

#include <csetjmp>
#include <string>

// clang-format off: jpeglib.h needs FILE and size_t, and jerror.h needs jpeglib.h.
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

namespace ebb::vision::codecs {

/// The error manager of libjpeg. After an error libjpeg calls error_exit, which must not return. It jumps
/// back into guard(), which throws ebb::Error there, because an exception must not pass through libjpeg's
/// frames.
class JpegErrors {
 public:
  JpegErrors() {
    jpeg_std_error(&manager_.base);
    manager_.base.error_exit = jump_back;
    manager_.base.emit_message = refuse_damage;
  }
  JpegErrors(const JpegErrors&) = delete;
  JpegErrors& operator=(const JpegErrors&) = delete;

  jpeg_error_mgr* manager() { return &manager_.base; }

  /// Calls f, which calls libjpeg. A jump may end f, so f must not construct objects with destructors. Errors
  /// begin with `problem`.
  template <class F>
  void guard(const std::string& problem, F&& f) {
    if (setjmp(manager_.back) != 0) ebb::detail::fail(problem, ": ", manager_.text, ".");
    f();
  }

 private:
  struct Manager {
    jpeg_error_mgr base;  // the first member, so that libjpeg's pointer to it is also one to the Manager
    std::jmp_buf back;
    char text[JMSG_LENGTH_MAX];
  };

  static void jump_back(j_common_ptr info) {
    auto* const manager = reinterpret_cast<Manager*>(info->err);
    info->err->format_message(info, manager->text);
    std::longjmp(manager->back, 1);
  }

  // libjpeg fills missing pixels with grey and warns. Warnings about lost pixels become errors.
  static void refuse_damage(j_common_ptr info, int level) {
    if (level >= 0) return;
    switch (info->err->msg_code) {
      case JWRN_ARITH_BAD_CODE:
      case JWRN_HIT_MARKER:
      case JWRN_HUFF_BAD_CODE:
      case JWRN_JPEG_EOF:
      case JWRN_MUST_RESYNC:
        info->err->error_exit(info);
        break;
      default:
        ++info->err->num_warnings;
    }
  }

  Manager manager_;
};

}  // namespace ebb::vision::codecs
