// Names, sizes and promotion of dtypes.
#include <ebb/core/dtype.h>
#include <ebb/core/scalar.h>

#include <atomic>
#include <ostream>

namespace ebb {

const char* to_string(DType dtype) {
  constexpr const char* names[] = {"Byte",  "Char",   "Short", "Int",      "Long",     "Half",
                                   "Float", "Double", "Bool",  "BFloat16", "Undefined"};
  return names[static_cast<int>(dtype)];
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << to_string(dtype); }

std::string_view TypeMeta::name() const {
  constexpr std::string_view names[] = {"unsigned char",
                                        "signed char",
                                        "short int",
                                        "int",
                                        "long int",
                                        "c10::Half",
                                        "float",
                                        "double",
                                        "bool",
                                        "c10::BFloat16",
                                        "nullptr (uninitialized)"};
  return names[static_cast<int>(dtype_)];
}
std::ostream& operator<<(std::ostream& out, TypeMeta dtype) { return out << dtype.name(); }

namespace detail {
void scalar_overflow(const Scalar& value, DType dtype) {
  fail("value ", value, " cannot be converted to ", dtype, " without overflow.");
}
}  // namespace detail

std::ostream& operator<<(std::ostream& out, Half value) { return out << static_cast<float>(value); }
std::ostream& operator<<(std::ostream& out, BFloat16 value) { return out << static_cast<float>(value); }

std::ostream& operator<<(std::ostream& out, const Scalar& value) {
  std::string s;
  append_text(s, value);
  return out << s;
}

DType promote_types(DType a, DType b) {
  constexpr DType u1 = kByte, i1 = kChar, i2 = kShort, i4 = kInt, i8 = kLong, f2 = kHalf, f4 = kFloat,
                  f8 = kDouble, b1 = kBool, bf = kBFloat16;
  // The lattice of torch.promote_types. Rows and columns are in the order of the enum.
  constexpr DType table[10][10] = {
      {u1, i2, i2, i4, i8, f2, f4, f8, u1, bf}, {i2, i1, i2, i4, i8, f2, f4, f8, i1, bf},
      {i2, i2, i2, i4, i8, f2, f4, f8, i2, bf}, {i4, i4, i4, i4, i8, f2, f4, f8, i4, bf},
      {i8, i8, i8, i8, i8, f2, f4, f8, i8, bf}, {f2, f2, f2, f2, f2, f2, f4, f8, f2, f4},
      {f4, f4, f4, f4, f4, f4, f4, f8, f4, f4}, {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8},
      {u1, i1, i2, i4, i8, f2, f4, f8, b1, bf}, {bf, bf, bf, bf, bf, f4, f4, f8, bf, bf}};
  EBB_CHECK(a != DType::Undefined && b != DType::Undefined,
            "promote_types: undefined dtype; give two tensors that exist.");
  return table[static_cast<int>(a)][static_cast<int>(b)];
}

namespace {
std::atomic<DType> default_dtype{kFloat};
}

TypeMeta get_default_dtype() { return TypeMeta(default_dtype.load(std::memory_order_relaxed)); }

void set_default_dtype(DType dtype) {
  EBB_CHECK(is_floating(dtype),
            "set_default_dtype: only floating-point dtypes are supported as default, got ", dtype, ".");
  default_dtype.store(dtype, std::memory_order_relaxed);
}

DType promote_with_scalar(DType tensor, const Scalar& scalar) {
  if (is_floating(tensor)) return tensor;
  if (scalar.is_floating_point()) return get_default_dtype();
  if (tensor == kBool && !scalar.is_boolean()) return kLong;
  return tensor;
}

}  // namespace ebb
