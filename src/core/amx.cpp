// How AMX is asked for.
#include "core/amx.h"

#include <ebb/core/environment.h>
#include <ebb/core/warning.h>

#include "core/fork.h"

#include <cstdlib>
#include <string_view>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ebb {
namespace {

// What EBB_AMX says; empty where it is not set.
std::string_view wish() {
  const char* const wanted = detail::environment("EBB_AMX");
  return wanted ? wanted : "";
}

#if defined(__x86_64__) && defined(__linux__)

bool processor_has_amx() {
  constexpr unsigned kBFloat16 = 1U << 22, kTiles = 1U << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & kBFloat16) && (d & kTiles);
}

// Only a kernel that saves tiles with the rest of a thread's registers grants them.
bool system_grants_amx() {
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, a state component
  return ::syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

#else

bool processor_has_amx() { return false; }
bool system_grants_amx() { return false; }

#endif

}  // namespace

constinit std::atomic<detail::Amx> detail::amx{Amx::unasked};

bool detail::settle_amx(bool (*multiplies_rightly)()) {
  static OpenInChild& settling = *new OpenInChild;
  bool right = true;
  {
    const std::lock_guard lock(settling);
    if (amx.load() == Amx::unasked)
      amx.store(wish() != "0" && processor_has_amx() && system_grants_amx() ? Amx::granted : Amx::off);
    if (amx.load() == Amx::granted) {
      right = multiplies_rightly();
      amx.store(right ? Amx::on : Amx::off);
    }
  }
  const std::string_view wanted = wish();
  if (!wanted.empty() && wanted != "0" && wanted != "1")
    warn("EBB_AMX=", wanted, " is neither 0 nor 1: AMX is used where it is to be had.");
  if (!right)
    warn(
        "AMX, which this processor says it has, multiplied a matrix of bfloat16 wrongly, and is not used: "
        "products go by AVX512-BF16. Set EBB_AMX=0 to leave it out without this warning.");
  return amx.load() == Amx::on;
}

}  // namespace ebb
