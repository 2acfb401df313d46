// Function: the functions of NCCL, from the library that the system has.
#pragma once

#include <ebb/core/error.h>

#include <nccl.h>

namespace ebb::distributed::nccl {

/// Returns a function of libnccl.so.2, 2.18 or later. The first call opens it: on the path of the loader,
/// then in the folders of CUDA_PATH and CUDA_HOME. Throws ebb::Error that says what to install.
void* symbol(const char* name);
/// Throws ebb::Error with NCCL's text, unless the result is ncclSuccess or ncclInProgress.
void check(ncclResult_t result, const char* name);

/// A function of NCCL by its type and name. It throws ebb::Error if NCCL reports one.
template <class Signature>
struct Function;
template <class... Arguments>
struct Function<ncclResult_t(Arguments...)> {
  const char* name;

  ncclResult_t unchecked(Arguments... arguments) const {
    return reinterpret_cast<ncclResult_t (*)(Arguments...)>(symbol(name))(arguments...);
  }
  void operator()(Arguments... arguments) const { check(unchecked(arguments...), name); }
};

inline constexpr Function<decltype(ncclGetVersion)> get_version{"ncclGetVersion"};
inline constexpr Function<decltype(ncclGetUniqueId)> get_unique_id{"ncclGetUniqueId"};
inline constexpr Function<decltype(ncclCommInitRankConfig)> comm_init_rank_config{"ncclCommInitRankConfig"};
inline constexpr Function<decltype(ncclCommGetAsyncError)> comm_get_async_error{"ncclCommGetAsyncError"};
inline constexpr Function<decltype(ncclCommFinalize)> comm_finalize{"ncclCommFinalize"};
inline constexpr Function<decltype(ncclCommDestroy)> comm_destroy{"ncclCommDestroy"};
inline constexpr Function<decltype(ncclCommAbort)> comm_abort{"ncclCommAbort"};
inline constexpr Function<decltype(ncclGroupStart)> group_start{"ncclGroupStart"};
inline constexpr Function<decltype(ncclGroupEnd)> group_end{"ncclGroupEnd"};
inline constexpr Function<decltype(ncclAllReduce)> all_reduce{"ncclAllReduce"};
inline constexpr Function<decltype(ncclReduce)> reduce{"ncclReduce"};
inline constexpr Function<decltype(ncclBroadcast)> broadcast{"ncclBroadcast"};
inline constexpr Function<decltype(ncclAllGather)> all_gather{"ncclAllGather"};
inline constexpr Function<decltype(ncclReduceScatter)> reduce_scatter{"ncclReduceScatter"};
inline constexpr Function<decltype(ncclSend)> send{"ncclSend"};
inline constexpr Function<decltype(ncclRecv)> receive{"ncclRecv"};

}  // namespace ebb::distributed::nccl
