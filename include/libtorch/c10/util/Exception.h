// TORCH_CHECK and others: libtorch's errors, checks and warnings.
#pragma once

#include <ebb/core/error.h>
#include <ebb/core/warning.h>

#include <c10/macros/Macros.h>
#include <c10/util/StringUtil.h>

namespace c10 {

/// An argument of the right type with an invalid value.
class EBB_API ValueError : public Error {
 public:
  using Error::Error;
};

/// An argument of the wrong type.
class EBB_API TypeError : public Error {
 public:
  using Error::Error;
};

/// A number that is not finite.
class EBB_API EnforceFiniteError : public Error {
 public:
  using Error::Error;
};

/// A matrix decomposition that failed.
class EBB_API LinAlgError : public Error {
 public:
  using Error::Error;
};

/// Throws the error of a failed check. `condition` is the text of the condition, for a check without a
/// message.
template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail_check(const char* condition, const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 0)
    throw E(str("Expected ", condition, " to be true, but got false."));
  else
    throw E(str(parts...));
}

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail_assert(const SourceLocation& at, const char* condition,
                                                        const Parts&... parts) {
  throw Error(str(condition, " INTERNAL ASSERT FAILED at ", at.file, ':', at.line, ". ", parts...));
}

template <class... Parts>
[[gnu::cold, gnu::noinline]] void warn_text(const Parts&... parts) {
  ebb::warn(ebb::Warning(str(parts...)));
}

}  // namespace c10

#define TORCH_CHECK_WITH(error, condition, ...)                               \
  do {                                                                        \
    if (!(condition)) [[unlikely]]                                            \
      ::c10::fail_check<::c10::error>(#condition __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)
#define TORCH_CHECK_WITH_MSG(error, condition, type, ...) TORCH_CHECK_WITH(error, condition, __VA_ARGS__)

/// Throws c10::Error unless the condition is true. The parts of the message are streamed.
#define TORCH_CHECK(condition, ...) TORCH_CHECK_WITH(Error, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) TORCH_CHECK_WITH(IndexError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_VALUE(condition, ...) TORCH_CHECK_WITH(ValueError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) TORCH_CHECK_WITH(TypeError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_LINALG(condition, ...) TORCH_CHECK_WITH(LinAlgError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  TORCH_CHECK_WITH(NotImplementedError, condition __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_IF_NOT_ON_CUDA(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)

#define TORCH_INTERNAL_ASSERT(condition, ...)                                                    \
  do {                                                                                           \
    if (!(condition)) [[unlikely]]                                                               \
      ::c10::fail_assert({__func__, __FILE__, __LINE__}, #condition __VA_OPT__(, ) __VA_ARGS__); \
  } while (false)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  do {                                        \
  } while (false)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif

#define TORCH_WARN(...) ::c10::warn_text(__VA_ARGS__)
#define TORCH_WARN_DEPRECATION(...) TORCH_WARN(__VA_ARGS__)
/// Warns when the line is reached for the first time.
#define TORCH_WARN_ONCE(...)                                              \
  do {                                                                    \
    static std::atomic_flag warned_at_this_line;                          \
    if (::ebb::warns_first(warned_at_this_line)) TORCH_WARN(__VA_ARGS__); \
  } while (false)

#define AT_ERROR(...) ::c10::fail_check<::c10::Error>("no error" __VA_OPT__(, ) __VA_ARGS__)
#define TORCH_CHECK_ARG(condition, position, ...) \
  TORCH_CHECK(condition, "invalid argument ", position, ": ", __VA_ARGS__)
#define AT_ASSERT(condition) TORCH_INTERNAL_ASSERT(condition)
#define AT_ASSERTM(condition, ...) TORCH_CHECK(condition, __VA_ARGS__)
#define AT_CHECK(condition, ...) TORCH_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#define AT_INDEX_ERROR(...) TORCH_CHECK_INDEX(false, __VA_ARGS__)
#define AT_WARN(...) TORCH_WARN(__VA_ARGS__)
#define C10_THROW_ERROR(type, message) throw ::c10::type(message)
