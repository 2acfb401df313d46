// Matrices that a warp holds in its registers: ldmatrix, and mma.m16n8k16 of 16-bit floats with sums in
// float.
#include "handlers.h"
#include "rounding.h"

namespace ebb::ptx {
namespace {

// ldmatrix: lane 8 m + r gives the address of row r of matrix m; each lane then holds two neighbours of a
// row, or of a column where the matrix is transposed.
void load_matrices(Warp& warp, const Instruction& i, Lanes lanes) {
  u16 elements[4][8][8];
  for (unsigned m = 0; m < i.count; ++m) {
    count_request(warp, i, Lanes{255} << (8 * m), 16);
    for (unsigned r = 0; r < 8; ++r) {
      const unsigned lane = 8 * m + r;
      std::memcpy(elements[m][r],
                  resolve(warp, Space::shared, address_of(warp, i, lane), 16, lane, Access::read), 16);
    }
  }
  each_lane(lanes, [&](unsigned lane) {
    const unsigned line = lane / 4, first = lane % 4 * 2;
    for (unsigned m = 0; m < i.count; ++m) {
      const auto& e = elements[m];
      const u32 lower = i.transposed ? e[first][line] : e[line][first];
      const u32 upper = i.transposed ? e[first + 1][line] : e[line][first + 1];
      warp.put(i.to[m], lane, upper << 16 | lower);
    }
  });
}

// d = a b + c. The places of elements are those of PTX ISA, "Matrix fragments for mma.m16n8k16 with floating
// point".
template <class H>
void multiply(Warp& warp, const Instruction& i, Lanes lanes) {
  double a[16][16], b[16][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane / 4, first = lane % 4 * 2;
    for (unsigned half = 0; half < 2; ++half) {
      const auto element = [&](unsigned operand) {
        return value_of(H{static_cast<u16>(warp.get<u32>(i.from[operand], lane) >> (16 * half))});
      };
      for (unsigned part = 0; part < 4; ++part)
        a[group + part % 2 * 8][first + part / 2 * 8 + half] = element(part);
      for (unsigned part = 0; part < 2; ++part) b[first + part * 8 + half][group] = element(4 + part);
    }
  }
  each_lane(lanes, [&](unsigned lane) {
    std::array<double, 4> sums;
    for (unsigned part = 0; part < 4; ++part) {
      const unsigned row = lane / 4 + part / 2 * 8, column = lane % 4 * 2 + part % 2;
      sums[part] = warp.get<float>(i.from[6 + part], lane);
      for (unsigned k = 0; k < 16; ++k) sums[part] += a[row][k] * b[k][column];
    }
    for (unsigned part = 0; part < 4; ++part) warp.put(i.to[part], lane, static_cast<float>(sums[part]));
  });
}

void decode_load(Decoder& decoder, Statement& s, Instruction& i) {
  s.require(s.has("sync") && s.has("aligned") && s.has("m8n8") && s.type() == Type::b16);
  read_space(s, i);
  s.require(i.space == Space::shared);
  i.count = s.has("x4") ? 4 : s.has("x2") ? 2 : 1;
  s.ignore({"x1"});
  i.transposed = s.has("trans");
  const auto to = decoder.operands(s.operand(0), Type::b32);
  s.require(to.size() == i.count);
  std::copy(to.begin(), to.end(), i.to.begin());
  decoder.address(i, s.operand(1));
  i.execute = load_matrices;
}

void decode_multiply(Decoder& decoder, Statement& s, Instruction& i) {
  s.require(s.has("sync") && s.has("aligned") && s.has("m16n8k16") && s.has("row") && s.has("col"));
  const Type c = s.type(), b = s.type(1), a = s.type(2), d = s.type(3);
  s.require(c == Type::f32 && d == Type::f32 && a == b && (a == Type::f16 || a == Type::bf16));
  const auto to = decoder.operands(s.operand(0), d);
  s.require(to.size() == 4);
  std::copy(to.begin(), to.end(), i.to.begin());
  std::size_t place = 0;
  for (std::size_t n = 0; n < 3; ++n)
    for (const int reg : decoder.operands(s.operand(n + 1), n == 2 ? Type::f32 : Type::b32))
      i.from.at(place++) = reg;
  s.require(place == 10);
  i.execute = is_brain(a) ? multiply<Brain> : multiply<Half>;
}

}  // namespace

bool decode_matrix(Decoder& decoder, Statement& s, Instruction& i) {
  if (s.opcode() == "ldmatrix")
    decode_load(decoder, s, i);
  else if (s.opcode() == "mma")
    decode_multiply(decoder, s, i);
  else
    return false;
  i.flow = Flow::converge;
  return true;
}

}  // namespace ebb::ptx
