// move_bytes: rows of bytes, moved with registers or with a call.
#include "kernel/cpu/move_bytes.h"

#include "support/catch.h"

#include <algorithm>
#include <vector>

using ebb::cpu::move_bytes;

namespace {

std::vector<char> numbered(std::size_t bytes) {
  std::vector<char> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<char>(i * 7 % 251);
  return made;
}

}  // namespace

TEST_CASE("move_bytes copies rows of any size and alignment and nothing else") {
  const auto bytes = GENERATE(as<std::size_t>{}, 0, 1, 1023, 1024, 1025, 1150, 4068, 4096, (1 << 20) - 1,
                              1 << 20, (1 << 20) + 1);
  const auto from = GENERATE(as<std::size_t>{}, 0, 3, 32), to = GENERATE(as<std::size_t>{}, 0, 28, 31, 63);
  INFO(bytes << " bytes from " << from << " to " << to);
  const std::vector<char> source = numbered(bytes + 200);
  std::vector<char> target(bytes + 200, 'x'), expected = target;
  std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from), bytes,
              expected.begin() + static_cast<std::ptrdiff_t>(to));
  move_bytes(target.data() + to, source.data() + from, bytes);
  REQUIRE((target == expected));
}

TEST_CASE("move_bytes copies overlapping rows correctly") {
  const std::size_t bytes = 5000;
  const auto distance = GENERATE(as<std::size_t>{}, 1, 100, 4999);
  const bool forward = GENERATE(false, true);
  const std::vector<char> before = numbered(2 * bytes);
  std::vector<char> now = before, expected = before;
  const std::size_t from = forward ? 0 : distance, to = forward ? distance : 0;
  for (std::size_t i = 0; i < bytes; ++i) expected[to + i] = before[from + i];
  move_bytes(now.data() + to, now.data() + from, bytes);
  REQUIRE((now == expected));
}
