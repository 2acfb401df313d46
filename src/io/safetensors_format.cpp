// The format's names of dtypes.
#include "io/safetensors_format.h"

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
  // Also as PyTorch's own files name them: "complex64".
  const char kind = dtype.empty() ? ' ' : dtype[0];
  const char* convert = kind == 'C' || kind == 'c'   ? "torch.view_as_real(x)"
                        : kind == 'U' || kind == 'u' ? "x.to(torch.int64)"
                                                     : "x.to(torch.bfloat16), times its scale if it has one,";
  return ebb::detail::text(" is of dtype ", dtype, ", which ebb does not have. Save ", convert,
                           " from Python in its place; the file's other tensors can be read.");
}

}  // namespace ebb::safetensors
