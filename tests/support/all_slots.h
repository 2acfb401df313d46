// The list of all kernel slots of the library, from its symbol table.
#pragma once

#include <ebb/ebb.h>

#include "kernel/call/slot.h"

#include <dlfcn.h>
#include <elf.h>

#include <array>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::testing {

// The fields that every slot has, whatever arguments its kernel has.
struct AnySlot {
  const char* name;
  ebb::detail::KernelTraits traits;
  std::array<void (*)(), ebb::detail::kCpuLevels> cpu;
  std::atomic<void (*)()> cuda;
};
static_assert(sizeof(AnySlot) == sizeof(ebb::KernelSlot<void(ebb::NdArray&)>));

// Returns whether the kernels of a slot may decline a call; such a slot has no CPU kernel.
inline bool may_decline(const AnySlot& slot) {
  const std::string_view name = slot.name;
  return name == "linear" || name == "rnn_layer" || name == "rnn_layer_backward";
}

template <class T>
std::vector<T> read(const std::string& file, std::uint64_t at, std::uint64_t bytes) {
  std::vector<T> out(bytes / sizeof(T));
  std::memcpy(static_cast<void*>(out.data()), file.data() + at, out.size() * sizeof(T));
  return out;
}

struct Named {
  std::string symbol;
  const AnySlot* slot;
};

// Returns the variables in namespace ebb::kernels that the library exports.
inline std::vector<Named> all_slots() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&ebb::get_num_threads), &info) == 0) return {};
  std::ifstream stream(info.dli_fname, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  const auto header = read<Elf64_Ehdr>(file, 0, sizeof(Elf64_Ehdr)).at(0);
  const auto sections = read<Elf64_Shdr>(file, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr));
  std::vector<Named> found;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM) continue;
    const char* const names = file.data() + sections.at(section.sh_link).sh_offset;
    for (const Elf64_Sym& symbol : read<Elf64_Sym>(file, section.sh_offset, section.sh_size)) {
      const std::string name = names + symbol.st_name;
      if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF ||
          symbol.st_size != sizeof(AnySlot) || !name.starts_with("_ZN3ebb7kernels"))
        continue;
      // In a program that names a slot, the slot is in the memory of the program, and the linker resolves its
      // address.
      found.push_back({name, static_cast<const AnySlot*>(dlsym(RTLD_DEFAULT, name.c_str()))});
    }
  }
  return found;
}

}  // namespace ebb::testing
