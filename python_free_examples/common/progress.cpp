// The progress bar.
#include "progress.h"

#include <unistd.h>

#include <cstdio>

namespace example {

Progress::Progress(std::string title, std::int64_t total, std::string unit)
    : title_(std::move(title)), unit_(std::move(unit)), total_(total), terminal_(isatty(STDOUT_FILENO)) {}

double Progress::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

std::string Progress::figures() const {
  char text[96];
  std::snprintf(text, sizeof text, "loss %.4f  %6.0f ", loss_sum_ / static_cast<double>(steps_ ? steps_ : 1),
                static_cast<double>(done_) / seconds());
  return text + unit_ + "/s";
}

void Progress::draw() const {
  constexpr int kWidth = 30;
  const int full = static_cast<int>(kWidth * done_ / total_);
  const double left = seconds() / static_cast<double>(done_) * static_cast<double>(total_ - done_);
  std::printf("\r%s [%s%s] %3d%%  %s  ETA %.0f s \x1b[K", title_.c_str(), std::string(full, '=').c_str(),
              std::string(kWidth - full, '.').c_str(), static_cast<int>(100 * done_ / total_),
              figures().c_str(), left);
  std::fflush(stdout);
}

void Progress::advance(std::int64_t images, double loss) {
  done_ += images;
  ++steps_;
  loss_sum_ += loss;
  if (!terminal_ || Clock::now() - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = Clock::now();
  draw();
}

void Progress::finish(const std::string& result) {
  std::printf("%s%s  %s  %.1f s  %s%s\n", terminal_ ? "\r" : "", title_.c_str(), figures().c_str(), seconds(),
              result.c_str(), terminal_ ? "\x1b[K" : "");
  std::fflush(stdout);
}

}  // namespace example
