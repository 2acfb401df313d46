// CAFFE_ENFORCE and LOG.
#pragma once

#include <c10/util/Exception.h>

#include <iostream>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace c10 {

using EnforceNotMet = Error;

/// A line of log output on stderr, written at the end of the statement.
class LogLine {
 public:
  LogLine(const char* severity, const char* file, int line) {
    std::cerr << '[' << severity << ' ' << file << ':' << line << "] ";
  }
  LogLine(const LogLine&) = delete;
  LogLine& operator=(const LogLine&) = delete;
  ~LogLine() { std::cerr << '\n'; }
  std::ostream& stream() { return std::cerr; }
};

/// Prints at most a hundred elements, separated by spaces.
template <class Iterator>
void PrintSequence(std::ostream& out, Iterator at, Iterator end) {
  for (int i = 0; at != end; ++at, ++i) {
    if (i == 100) {
      out << " ...";
      return;
    }
    if (i > 0) out << ' ';
    out << *at;
  }
}

}  // namespace c10

// Stream operators for containers, in namespace std as in libtorch, where every program finds them.
namespace std {

template <class First, class Second>
ostream& operator<<(ostream& out, const pair<First, Second>& both);

template <class... Types>
ostream& operator<<(ostream& out, const vector<Types...>& values) {
  c10::PrintSequence(out, values.begin(), values.end());
  return out;
}
template <class... Types>
ostream& operator<<(ostream& out, const map<Types...>& values) {
  c10::PrintSequence(out, values.begin(), values.end());
  return out;
}
template <class... Types>
ostream& operator<<(ostream& out, const set<Types...>& values) {
  c10::PrintSequence(out, values.begin(), values.end());
  return out;
}
template <class First, class Second>
ostream& operator<<(ostream& out, const pair<First, Second>& both) {
  return out << '(' << both.first << ", " << both.second << ')';
}

}  // namespace std

/// Logs with `LOG(INFO) << "..."`; the severity is INFO, WARNING or ERROR.
#ifndef LOG
#define LOG(severity) ::c10::LogLine(#severity, __FILE__, __LINE__).stream()
#endif
#define C10_LOG_API_USAGE_ONCE(...) static_cast<void>(0)

#define CAFFE_ENFORCE(condition, ...)                                        \
  TORCH_CHECK(condition, "[enforce fail at ", __FILE__, ':', __LINE__, "] ", \
              #condition ". " __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_THROW(...) CAFFE_ENFORCE(false, __VA_ARGS__)
#define CAFFE_ENFORCE_FINITE(condition, ...) TORCH_CHECK_WITH(EnforceFiniteError, condition, __VA_ARGS__)
#define CAFFE_ENFORCE_COMPARED(x, op, y, ...) \
  CAFFE_ENFORCE((x)op(y), (x), " and ", (y), ". " __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_EQ(x, y, ...) CAFFE_ENFORCE_COMPARED(x, ==, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_NE(x, y, ...) CAFFE_ENFORCE_COMPARED(x, !=, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_LE(x, y, ...) CAFFE_ENFORCE_COMPARED(x, <=, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_LT(x, y, ...) CAFFE_ENFORCE_COMPARED(x, <, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_GE(x, y, ...) CAFFE_ENFORCE_COMPARED(x, >=, y __VA_OPT__(, ) __VA_ARGS__)
#define CAFFE_ENFORCE_GT(x, y, ...) CAFFE_ENFORCE_COMPARED(x, >, y __VA_OPT__(, ) __VA_ARGS__)
