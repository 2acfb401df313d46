// EventFile: appends TFRecords with masked CRC32C.
#include "watch/event_file.h"

#include <ebb/core/error.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>

namespace ebb::watch {
namespace {

constexpr auto kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    table[i] = i;
    for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78 : 0);
  }
  return table;
}();

// Returns the CRC32C, rotated and shifted as TFRecord requires.
std::uint32_t masked_crc(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char byte : bytes) crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 255];
  return ((~crc >> 15) | (~crc << 17)) + 0xa282ead8;
}

void check(bool good, const char* what, const std::string& path) {
  EBB_CHECK(good, "SummaryWriter cannot ", what, " \"", path, "\": ", std::generic_category().message(errno),
            ".");
}

}  // namespace

Message& Message::varint(std::uint64_t value) {
  for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
  bytes_ += static_cast<char>(value);
  return *this;
}

EventFile::EventFile(const std::string& folder, const std::string& suffix) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  errno = failed.value();
  check(!failed, "create the folder", folder);
  static std::atomic<int> files{0};
  const auto time = std::chrono::system_clock::now().time_since_epoch() / std::chrono::microseconds(1);
  path_ = (std::filesystem::path(folder) / fmt::format("events.out.tfevents.{:010}.{:06}.{}.{}.{}{}",
                                                       time / 1000000, time % 1000000, host_name(),
                                                       ::getpid(), files++, suffix))
              .string();
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  check(descriptor_ >= 0, "create", path_);
}

EventFile::~EventFile() { ::close(descriptor_); }

void EventFile::append(const Message& event) {
  const std::uint64_t length = event.bytes().size();
  std::string record(raw(length));
  record.append(raw(masked_crc(raw(length)))).append(event.bytes()).append(raw(masked_crc(event.bytes())));
  for (std::size_t done = 0; done < record.size();) {
    const ssize_t n = ::pwrite(descriptor_, record.data() + done, record.size() - done,
                               size_ + static_cast<std::int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = n < 0 ? errno : ENOSPC;
      // The next record would not follow the whole ones. It overwrites the rest if this call fails.
      [[maybe_unused]] const int cut = ::ftruncate(descriptor_, size_);
      errno = error;
      check(false, "write", path_);
    }
    done += static_cast<std::size_t>(n);
  }
  size_ += static_cast<std::int64_t>(record.size());
}

void EventFile::flush() { check(::fdatasync(descriptor_) == 0, "flush", path_); }

std::string host_name() {
  char name[256] = "localhost";
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace ebb::watch
