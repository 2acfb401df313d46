// libjpeg's errors as ebb's.
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

/// Stands behind jpeg_error_mgr. libjpeg leaves its functions by error_exit, which must not return: it jumps
/// back into guard(), and only there, with no frame of libjpeg's left, is ebb::Error thrown.
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

  /// Calls f, which calls libjpeg and, since a jump may end it, makes no object that has a destructor. Errors
  /// begin with `problem`.
  template <class F>
  void guard(const std::string& problem, F&& f) {
    if (setjmp(manager_.back) != 0) ebb::detail::fail(problem, ": ", manager_.text, ".");
    f();
  }

 private:
  struct Manager {
    jpeg_error_mgr base;  // first, so that libjpeg's pointer to it is one to all
    std::jmp_buf back;
    char text[JMSG_LENGTH_MAX];
  };

  static void jump_back(j_common_ptr info) {
    auto* const manager = reinterpret_cast<Manager*>(info->err);
    info->err->format_message(info, manager->text);
    std::longjmp(manager->back, 1);
  }

  // libjpeg paints grey over what is missing and warns; of warnings only those stay warnings that lose no
  // pixels.
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
