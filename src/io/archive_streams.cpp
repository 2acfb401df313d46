// Archives through functions of the program's, and from memory.
#include <ebb/archive.h>

#include <cstring>
#include <istream>
#include <ostream>
#include <sstream>
#include <streambuf>

namespace ebb::serialize {
namespace {

// Nothing is kept: what the stream is given, the function takes at once.
class WriteBuffer : public std::streambuf {
 public:
  explicit WriteBuffer(const WriteFunction& write) : write_(write) {}

 protected:
  std::streamsize xsputn(const char* data, std::streamsize size) override {
    const auto bytes = static_cast<std::size_t>(size);
    const std::size_t taken = write_(data, bytes);
    EBB_CHECK(taken == bytes, "save: the function that writes took ", std::uint64_t{taken}, " of ",
              std::uint64_t{bytes}, " bytes.");
    return size;
  }
  int_type overflow(int_type c) override {
    const char byte = traits_type::to_char_type(c);
    return xsputn(&byte, 1), c;
  }

 private:
  const WriteFunction& write_;
};

}  // namespace

namespace detail {

void with_stream(const WriteFunction& write, const std::function<void(std::ostream&)>& body) {
  WriteBuffer buffer(write);
  std::ostream stream(&buffer);
  stream.exceptions(std::ios::badbit);  // lets through what the function throws
  body(stream);
}

void with_stream(const ReadFunction& read, const SizeFunction& size,
                 const std::function<void(std::istream&)>& body) {
  std::string bytes(size(), '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t more = read(at, bytes.data() + at, bytes.size() - at);
    EBB_CHECK(more > 0 && more <= bytes.size() - at, "load: the function that reads gave ",
              std::uint64_t{more}, " bytes at position ", std::uint64_t{at}, " of ",
              std::uint64_t{bytes.size()}, ".");
    at += more;
  }
  std::istringstream stream(std::move(bytes));
  body(stream);
}

void with_stream(const char* data, std::size_t size, const std::function<void(std::istream&)>& body) {
  std::istringstream stream(std::string(data, size));
  body(stream);
}

}  // namespace detail

void OutputArchive::save_to(const WriteFunction& write) const {
  detail::with_stream(write, [this](std::ostream& stream) { save_to(stream); });
}
void InputArchive::load_from(const char* data, std::size_t size, optional<Device> device) {
  detail::with_stream(data, size, [&](std::istream& stream) { load_from(stream, device); });
}
void InputArchive::load_from(const ReadFunction& read, const SizeFunction& size, optional<Device> device) {
  detail::with_stream(read, size, [&](std::istream& stream) { load_from(stream, device); });
}

}  // namespace ebb::serialize
