// The types of PTX.
#pragma once

#include <cstdint>
#include <string_view>

namespace ebb::ptx {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
__extension__ using u128 = unsigned __int128;
__extension__ using s128 = __int128;

enum class Type : u8 {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f32,
  f64,
  f16x2,
  bf16x2
};

/// The type of that name, without the leading dot; Type::none where there is none.
Type type_named(std::string_view name);
/// Bytes of a value.
unsigned size_of(Type type);
bool is_signed(Type type);
inline bool is_float(Type type) { return type == Type::f32 || type == Type::f64; }
inline bool is_half(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2;
}
inline bool is_pair(Type type) { return type == Type::f16x2 || type == Type::bf16x2; }
/// Whether a 16-bit type is bfloat16.
inline bool is_brain(Type type) { return type == Type::bf16 || type == Type::bf16x2; }

}  // namespace ebb::ptx
