// ZipReader: reads stored and deflated entries of zip archives.
#include <ebb/core/error.h>

#include "io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <new>
#include <unordered_map>
#include <utility>

namespace ebb::io {
namespace {

// The size of the buffers for packed bytes, and for bytes that are read only for the CRC-32.
constexpr std::size_t kChunk = std::size_t{1} << 16;
// The maximum compression ratio kPacks of a description of more than kAnySize bytes. Writers store
// descriptions uncompressed, and tools that compress an archive afterwards reach a ratio of about 10.
constexpr std::uint64_t kPacks = 64, kAnySize = std::uint64_t{1} << 20;

template <class... Parts>
[[noreturn]] void unsound_archive(const Parts&... parts) {
  unsound_zip(ebb::detail::text(parts...));
}

// Reads the bytes of an entry sequentially and computes their CRC-32.
class Unpacker {
 public:
  Unpacker(const Bytes& bytes, const ZipEntry& entry)
      : bytes_(bytes), at_(zip_data_position(bytes, entry)), left_(entry.packed), stored_(entry.method == 0) {
    if (stored_) return;
    // The data is raw deflate data, which has no header.
    if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
    chunk_.resize(std::min<std::uint64_t>(kChunk, left_));
  }
  ~Unpacker() {
    if (!stored_) inflateEnd(&stream_);
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Reads the next bytes. Returns false if the entry is truncated or does not unpack.
  bool read(void* to, std::uint64_t size) {
    const bool whole = stored_ ? copy(to, size) : inflate_to(static_cast<Bytef*>(to), size) == size;
    if (whole && size > 0) sum_ = crc32_z(sum_, static_cast<const Bytef*>(to), size);
    return whole;
  }
  /// Returns whether the entry has no more bytes.
  bool ended() {
    Bytef one = 0;
    return stored_ ? left_ == 0 : inflate_to(&one, 1) == 0 && status_ == Z_STREAM_END;
  }
  uLong sum() const { return sum_; }

 private:
  bool copy(void* to, std::uint64_t size) {
    if (size > left_) return false;
    bytes_.read(at_, to, size);
    at_ += size;
    left_ -= size;
    return true;
  }

  // Unpacks up to `size` bytes and returns their number.
  std::uint64_t inflate_to(Bytef* to, std::uint64_t size) {
    std::uint64_t filled = 0;
    while (status_ == Z_OK && filled < size) {
      if (stream_.avail_in == 0 && left_ > 0) {
        stream_.avail_in = static_cast<uInt>(std::min<std::uint64_t>(left_, chunk_.size()));
        stream_.next_in = reinterpret_cast<Bytef*>(chunk_.data());
        copy(chunk_.data(), stream_.avail_in);
      }
      const auto room = static_cast<uInt>(std::min<std::uint64_t>(size - filled, 1 << 30));
      stream_.next_out = to + filled;
      stream_.avail_out = room;
      status_ = inflate(&stream_, Z_NO_FLUSH);
      filled += room - stream_.avail_out;
    }
    return filled;
  }

  const Bytes& bytes_;
  std::uint64_t at_, left_;  // the position and number of packed bytes that are left
  bool stored_;
  z_stream stream_ = {};
  std::string chunk_;
  int status_ = Z_OK;
  uLong sum_ = 0;
};

}  // namespace

struct ZipReader::Archive {
  std::shared_ptr<const Bytes> bytes;
  std::vector<std::string> names;
  std::unordered_map<std::string, ZipEntry> entries;

  explicit Archive(std::shared_ptr<const Bytes> from) : bytes(std::move(from)) {
    for (ZipEntry& entry : read_zip_directory(*bytes)) {
      check(entry);
      names.push_back(entry.name);
      if (!entries.emplace(entry.name, std::move(entry)).second)
        unsound_archive("it has two entries \"", names.back(), "\"");
    }
  }

  void check(const ZipEntry& entry) const {
    if (entry.flags & 1)
      ebb::detail::fail("zip: entry \"", entry.name, "\" is encrypted. Write it without a password.");
    if (entry.method != 0 && entry.method != Z_DEFLATED)
      ebb::detail::fail("zip: entry \"", entry.name, "\" is compressed by method ",
                        std::uint64_t{entry.method}, "; stored and deflated entries can be read.");
    // Deflate has a ratio of at most about 1,032.
    if (entry.packed > bytes->size() ||
        (entry.method == 0 ? entry.size != entry.packed : entry.size / 1040 > entry.packed))
      unsound_archive("entry \"", entry.name, "\" cannot have ", entry.size, " bytes");
    if (overlaps_what_follows(entry)) unsound_archive("entry \"", entry.name, "\" overlaps what follows");
    zip_data_position(*bytes, entry);
  }

  const ZipEntry& at(const std::string& name) const {
    const auto found = entries.find(name);
    if (found == entries.end()) unsound_archive("it has no entry \"", name, "\"");
    return found->second;
  }

  void read_into(const std::string& name, const std::vector<Part>& parts, bool to_end) const {
    const ZipEntry& entry = at(name);
    Unpacker unpacker(*bytes, entry);
    std::uint64_t left = entry.size;
    bool whole = true;
    const auto take = [&](void* to, std::uint64_t size) {
      whole = whole && size <= left && unpacker.read(to, size);
      left -= whole ? size : 0;
    };
    for (const Part& part : parts) take(part.to, part.size);
    if (to_end && whole && left > 0) {
      std::string chunk(std::min<std::uint64_t>(left, kChunk), '\0');
      while (whole && left > 0) take(chunk.data(), std::min<std::uint64_t>(left, chunk.size()));
    }
    if (!whole || (to_end && !unpacker.ended()))
      unsound_archive("entry \"", name, "\" is cut short or does not unpack");
    if (to_end && unpacker.sum() != entry.sum && entry.size > 0)
      unsound_archive("the bytes of entry \"", name, "\" do not match its CRC-32");
  }
};

ZipReader::ZipReader(std::shared_ptr<const Bytes> bytes)
    : archive_(std::make_unique<Archive>(std::move(bytes))) {}
ZipReader::~ZipReader() = default;
ZipReader::ZipReader(ZipReader&&) noexcept = default;

const std::vector<std::string>& ZipReader::names() const { return archive_->names; }
bool ZipReader::contains(const std::string& name) const { return archive_->entries.contains(name); }
std::uint64_t ZipReader::size(const std::string& name) const { return archive_->at(name).size; }

std::string ZipReader::read(const std::string& name, std::uint64_t limit) const {
  const std::uint64_t n = size(name);
  if (n > limit || (n > kAnySize && n / kPacks > archive_->at(name).packed))
    unsound_archive("entry \"", name, "\" of ", n, " bytes is too large");
  std::string bytes(n, '\0');
  archive_->read_into(name, {{bytes.data(), n}}, /*to_end=*/true);
  return bytes;
}

void ZipReader::read_start(const std::string& name, void* to, std::uint64_t size) const {
  archive_->read_into(name, {{to, size}}, /*to_end=*/false);
}
void ZipReader::read_into(const std::string& name, const std::vector<Part>& parts) const {
  archive_->read_into(name, parts, /*to_end=*/true);
}

}  // namespace ebb::io
