// Formats that are often taken for safetensors, told by their first bytes.
#include "io/foreign.h"

#include <ebb/core/error.h>

namespace ebb::io {
namespace {

using namespace std::string_view_literals;

constexpr const char* kRead =
    "ebb::load(module, path) takes it as it is; what it holds is read by ebb::pytorch::read(path).";
constexpr const char* kPickle =
    "Load it in Python, and torch.save() the tensors in it, which ebb::load then takes.";

struct Foreign {
  std::string_view start;
  const char* what;
  const char* advice;
};
constexpr std::string_view kZip = "PK\3\4";
constexpr Foreign kForeign[] = {
    {kZip, "a zip archive, which looks like a PyTorch .pt or .pth file", kRead},
    {"\x80\x02\x8a\x0a"sv, "a pickle, which looks like an old PyTorch .pt or .pth file", kRead},
    {"\x80\x02"sv, "a plain pickle", kPickle},
    {"\x80\x03"sv, "a plain pickle", kPickle},
    {"\x80\x04"sv, "a plain pickle", kPickle},
    {"\x80\x05"sv, "a plain pickle", kPickle},
    {"PK"sv, "a zip archive, which looks like a PyTorch .pt or .pth file", kRead},
    {"{"sv, "JSON text, which looks like the index of a checkpoint in several files (*.index.json)",
     "Where the files that its \"weight_map\" names lie beside it, ebb::load(module, path) takes it as it "
     "is."},
    {"version "sv, "text, which looks like a Git LFS pointer", "Fetch the file itself: git lfs pull."},
    {"<"sv, "text, which looks like a web page", "Fetch the file itself."},
    {"GGUF"sv, "a GGUF file", "Get the model as safetensors."},
    {"\x89HDF"sv, "an HDF5 file", "Get the model as safetensors."},
    {"\x93NUMPY"sv, "a NumPy .npy file", "Read it by ebb::npy::read(path), or ebb::load(tensor, path)."},
    {"\x1f\x8b"sv, "compressed by gzip", "Uncompress it first."},
};

}  // namespace

void refuse_foreign(std::string_view first_bytes) {
  // A damaged safetensors file may begin with any byte, but it begins with a length of at most four.
  const bool maybe_length = first_bytes.size() >= 8 && first_bytes.substr(4, 4) == "\0\0\0\0"sv;
  for (const Foreign& f : kForeign)
    if (first_bytes.starts_with(f.start) && (!maybe_length || f.start == kZip))
      ebb::detail::fail("safetensors: this is no safetensors file but ", f.what, ". ", f.advice);
}

}  // namespace ebb::io
