// EventFile: a file of TFRecords, which TensorBoard reads. Message: the encoding of Protocol Buffers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::watch {

/// Returns the bytes in memory, which are those of a file on a little-endian machine.
template <class T>
std::string_view raw(const T& number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// Bytes of a protocol buffer, to which fields are added by their numbers.
class Message {
 public:
  Message& add(unsigned field, std::int64_t value) {
    return varint(field << 3).varint(static_cast<std::uint64_t>(value));
  }
  Message& add(unsigned field, double value) { return varint(field << 3 | 1).append(raw(value)); }
  Message& add(unsigned field, float value) { return varint(field << 3 | 5).append(raw(value)); }
  Message& add(unsigned field, std::string_view bytes) {
    return varint(field << 3 | 2).varint(bytes.size()).append(bytes);
  }
  Message& add(unsigned field, const Message& message) { return add(field, message.bytes()); }
  /// Adds all numbers as one packed field.
  template <class T>
  Message& add(unsigned field, const std::vector<T>& numbers) {
    return add(field, {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)});
  }
  /// Adds the fields of another message.
  Message& append(const Message& fields) { return append(fields.bytes()); }
  std::string_view bytes() const { return bytes_; }

 private:
  Message& varint(std::uint64_t value);
  Message& append(std::string_view bytes) { return bytes_ += bytes, *this; }
  std::string bytes_;
};

/// Appends records to a new file. Each record is a length, bytes, and the masked CRC32C of both. A record
/// that cannot be written completely is removed.
class EventFile {
 public:
  /// Creates the folder and a file with a new name in it, which sorts after those of earlier files.
  EventFile(const std::string& folder, const std::string& suffix);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  void append(const Message& event);
  void flush();

 private:
  std::string path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

/// Returns the name of this machine.
std::string host_name();

}  // namespace ebb::watch
