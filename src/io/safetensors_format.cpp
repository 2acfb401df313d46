// safetensors: dtypes, errors, and other formats, which are recognised by their first bytes.
#include "io/safetensors_format.h"

#include <ebb/core/error.h>

namespace ebb::safetensors {
namespace {

constexpr DType kNone = DType::Undefined;
constexpr Format kFormats[] = {
    {"F64", kDouble, 64},  {"F32", kFloat, 32},       {"F16", kHalf, 16},        {"BF16", kBFloat16, 16},
    {"I64", kLong, 64},    {"I32", kInt, 32},         {"I16", kShort, 16},       {"I8", kChar, 8},
    {"U8", kByte, 8},      {"BOOL", kBool, 8},        {"F8_E4M3", kNone, 8},     {"F8_E5M2", kNone, 8},
    {"F8_E8M0", kNone, 8}, {"F8_E4M3FNUZ", kNone, 8}, {"F8_E5M2FNUZ", kNone, 8}, {"F6_E2M3", kNone, 6},
    {"F6_E3M2", kNone, 6}, {"F4", kNone, 4},          {"U16", kNone, 16},        {"U32", kNone, 32},
    {"U64", kNone, 64},    {"C64", kNone, 64},        {"C128", kNone, 128}};

}  // namespace

const Format* format_named(std::string_view name) {
  for (const Format& f : kFormats)
    if (name == f.name) return &f;
  return nullptr;
}

const char* name_of(DType dtype) {
  for (const Format& f : kFormats)
    if (dtype == f.dtype && dtype != kNone) return f.name;
  ebb::detail::fail("safetensors: cannot write dtype ", dtype, ".");
}

std::string unsupported_text(std::string_view dtype) {
  // The name may also be a name of PyTorch's files, for example "complex64".
  const char kind = dtype.empty() ? ' ' : dtype[0];
  const char* convert = kind == 'C' || kind == 'c' ? "torch.view_as_real(x)"
                        : kind == 'U' || kind == 'u'
                            ? "x.to(torch.int64)"
                            : "x.to(torch.bfloat16), multiplied by its scale if it has one,";
  return ebb::detail::text(" is of dtype ", dtype, ", which ebb does not have. In Python, save ", convert,
                           " instead. The file's other tensors can be read.");
}

}  // namespace ebb::safetensors

namespace ebb::io {
namespace {

using namespace std::string_view_literals;

constexpr const char* kRead =
    "ebb::load(module, path) reads it directly, and ebb::pytorch::read(path) returns its contents.";
constexpr const char* kPickle =
    "Load it in Python, and torch.save() the tensors in it. ebb::load reads that file.";

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
     "If the files that its \"weight_map\" names are in the same folder, ebb::load(module, path) loads "
     "them."},
    {"version "sv, "text, which looks like a Git LFS pointer", "Fetch the file itself: git lfs pull."},
    {"<"sv, "text, which looks like a web page", "Fetch the file itself."},
    {"GGUF"sv, "a GGUF file", "Get the model as safetensors."},
    {"\x89HDF"sv, "an HDF5 file", "Get the model as safetensors."},
    {"\x93NUMPY"sv, "a NumPy .npy file", "Read it by ebb::npy::read(path), or ebb::load(tensor, path)."},
    {"\x1f\x8b"sv, "compressed by gzip", "Uncompress it first."},
};

}  // namespace

void refuse_foreign(std::string_view first_bytes) {
  // A safetensors file begins with the header's length, whose high half (bytes 4 to 7) is 0. Such a file is
  // refused only if it begins like a zip archive.
  const bool maybe_length = first_bytes.size() >= 8 && first_bytes.substr(4, 4) == "\0\0\0\0"sv;
  for (const Foreign& f : kForeign)
    if (first_bytes.starts_with(f.start) && (!maybe_length || f.start == kZip))
      ebb::detail::fail("safetensors: this is not a safetensors file but ", f.what, ". ", f.advice);
}

}  // namespace ebb::io
