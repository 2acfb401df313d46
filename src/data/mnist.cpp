// MNIST and read_idx: datasets in the IDX format.
#include <ebb/data/datasets.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

#include "io/bytes.h"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace ebb::data {
namespace {

// Reads an IDX file, which may be compressed. zlib also reads uncompressed files.
class IdxReader {
 public:
  explicit IdxReader(const std::string& path)
      : path_(path), size_(io::InputFile(path).size()), file_(gzopen(path.c_str(), "rb"), gzclose) {
    EBB_CHECK(file_, "read_idx: cannot open \"", path, "\": ", std::strerror(errno), ".");
    gzbuffer(file_.get(), 1 << 17);
  }
  void read(void* to, std::size_t bytes) {
    char* p = static_cast<char*>(to);
    while (bytes > 0) {
      const int n = gzread(file_.get(), p, static_cast<unsigned>(std::min<std::size_t>(bytes, 1 << 30)));
      EBB_CHECK(n > 0, "read_idx: \"", path_,
                "\" is truncated or its compression is damaged. Fetch it again.");
      p += n;
      bytes -= static_cast<std::size_t>(n);
    }
  }
  /// Returns an upper bound of the uncompressed size. The ratio of DEFLATE is at most 1032.
  std::uint64_t bytes_at_most() const { return size_ * (gzdirect(file_.get()) ? 1 : 1032); }
  void expect_end() {
    char extra;
    EBB_CHECK(gzread(file_.get(), &extra, 1) == 0, "read_idx: \"", path_,
              "\" is longer than its header says. Fetch it again.");
  }

 private:
  std::string path_;
  std::uint64_t size_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

DType dtype_of_code(unsigned char code, const std::string& path) {
  switch (code) {
    case 0x08:
      return kByte;
    case 0x09:
      return kChar;
    case 0x0B:
      return kShort;
    case 0x0C:
      return kInt;
    case 0x0D:
      return kFloat;
    case 0x0E:
      return kDouble;
    default:
      ebb::detail::fail("read_idx: \"", path, "\" is not an IDX file: it has the unknown dtype ", int{code},
                        ".");
  }
}

}  // namespace

Variable read_idx(const std::string& path) {
  IdxReader reader(path);
  unsigned char magic[4];
  reader.read(magic, sizeof magic);
  EBB_CHECK(magic[0] == 0 && magic[1] == 0, "read_idx: \"", path,
            "\" is not an IDX file: it does not begin with two zero bytes.");
  const DType dtype = dtype_of_code(magic[2], path);
  DimVector sizes;
  for (int i = 0; i < magic[3]; ++i) {
    unsigned char b[4];
    reader.read(b, sizeof b);
    sizes.push_back(std::int64_t{b[0]} << 24 | b[1] << 16 | b[2] << 8 | b[3]);
  }
  // The check limits the allocation if the header is damaged.
  const auto bytes = static_cast<std::size_t>(checked_numel(sizes) * element_size(dtype));
  EBB_CHECK(bytes <= reader.bytes_at_most(), "read_idx: \"", path,
            "\" is truncated or damaged: it claims the shape ", IntArrayRef(sizes),
            ", which takes more bytes than the file can hold. Fetch it again.");
  const NdArray array = NdArray::empty(sizes, dtype);
  reader.read(array.address(), bytes);
  reader.expect_end();
  const auto width = static_cast<std::size_t>(element_size(dtype));
  if (std::endian::native == std::endian::little && width > 1)
    for (char* p = static_cast<char*>(array.address()); p < static_cast<char*>(array.address()) + bytes;
         p += width)
      std::reverse(p, p + width);
  return Variable(array);
}

}  // namespace ebb::data

namespace ebb::data::datasets {
namespace {

std::string find(const std::string& root, const std::string& name) {
  std::error_code unreadable;
  for (const char* ending : {"", ".gz"})
    if (const auto path = std::filesystem::path(root) / (name + ending);
        std::filesystem::exists(path, unreadable))
      return path.string();
  return {};
}

std::string require(const std::string& root, const std::string& name) {
  std::string path = find(root, name);
  EBB_CHECK(!path.empty(), "MNIST: \"", root, "\" holds neither ", name, " nor ", name,
            ".gz. Give the folder with the four IDX files.");
  return path;
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode) : mode_(mode) {
  const std::string prefix = is_train() ? "train" : "t10k";
  const Variable images = read_idx(require(root, prefix + "-images-idx3-ubyte"));
  const Variable labels = read_idx(require(root, prefix + "-labels-idx1-ubyte"));
  EBB_CHECK(images.dtype() == kByte && images.dim() == 3,
            "MNIST: expected images of bytes [n, rows, columns], got ", images, " in \"", root, "\".");
  EBB_CHECK(labels.dtype() == kByte && labels.dim() == 1, "MNIST: expected labels of bytes [n], got ", labels,
            " in \"", root, "\".");
  EBB_CHECK(images.size(0) == labels.size(0), "MNIST: \"", root, "\" holds ", images.size(0), " images but ",
            labels.size(0), " labels.");
  images_ = images.unsqueeze(1).to(kFloat).div_(255);
  targets_ = labels.to(kLong);
}

Example<> MNIST::get(std::size_t index) {
  const auto i = static_cast<std::int64_t>(index);
  return {images_[i], targets_[i]};
}

optional<std::size_t> MNIST::size() const { return static_cast<std::size_t>(images_.size(0)); }

bool MNIST::present(const std::string& root) {
  for (const char* prefix : {"train", "t10k"})
    for (const char* rest : {"-images-idx3-ubyte", "-labels-idx1-ubyte"})
      if (find(root, std::string(prefix) + rest).empty()) return false;
  return true;
}

template class Dataset<MNIST>;

}  // namespace ebb::data::datasets
