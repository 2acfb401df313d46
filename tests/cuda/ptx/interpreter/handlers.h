// Handlers that apply a function to the registers of each lane, and their selection by type.
#pragma once

#include "decoder.h"
#include "machine.h"

#include <type_traits>

namespace ebb::ptx {

template <class T, class Op>
void unary(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) { warp.put(i.to[0], lane, Op::apply(warp.get<T>(i.from[0], lane))); });
}

template <class T, class Op>
void binary(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    warp.put(i.to[0], lane, Op::apply(warp.get<T>(i.from[0], lane), warp.get<T>(i.from[1], lane)));
  });
}

template <class T, class Op>
void ternary(Warp& warp, const Instruction& i, Lanes lanes) {
  each_lane(lanes, [&](unsigned lane) {
    warp.put(
        i.to[0], lane,
        Op::apply(warp.get<T>(i.from[0], lane), warp.get<T>(i.from[1], lane), warp.get<T>(i.from[2], lane)));
  });
}

/// Calls `make` with a value of the integer type; returns null for other types. Bit types count as unsigned.
template <class Make>
Handler for_integer(Type type, Make make) {
  switch (type) {
    case Type::b16:
    case Type::u16:
      return make(u16{});
    case Type::s16:
      return make(s16{});
    case Type::b32:
    case Type::u32:
      return make(u32{});
    case Type::s32:
      return make(s32{});
    case Type::b64:
    case Type::u64:
      return make(u64{});
    case Type::s64:
      return make(s64{});
    default:
      return nullptr;
  }
}

/// The same with an unsigned integer of the size of the type; predicates count as bytes.
template <class Make>
Handler for_bits(Type type, Make make) {
  switch (size_of(type)) {
    case 1:
      return type == Type::pred ? make(u8{}) : nullptr;
    case 2:
      return make(u16{});
    case 4:
      return make(u32{});
    case 8:
      return make(u64{});
    default:
      return nullptr;
  }
}

template <class Make>
Handler for_float(Type type, Make make) {
  return type == Type::f32 ? make(float{}) : type == Type::f64 ? make(double{}) : nullptr;
}

/// An unsigned type in which sums and products of T wrap around without promotion to int.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) <= 4, u32, u64>;

}  // namespace ebb::ptx
