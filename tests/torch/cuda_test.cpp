// libtorch's names for devices, streams, events and graphs; most checks need a device.
#include "support/catch.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/torch.h>

TEST_CASE("empty device guards work without a device") {
  const c10::cuda::OptionalCUDAGuard none;
  CHECK_FALSE(none.original_device().has_value());
  const c10::DeviceGuard cpu{torch::Device(torch::kCPU)};
  const c10::OptionalDeviceGuard absent(torch::nullopt);
  CHECK(at::hasCUDA() == torch::cuda::is_available());
  CHECK(at::cuda::getNumGPUs() == c10::cuda::device_count());
}

TEST_CASE("CUDA calls without a device throw errors that report the missing device") {
  if (torch::cuda::is_available()) return;
  CHECK_THROWS_WITH(at::cuda::getCurrentCUDAStream(), support::Contains("Device::CUDA: "));
  CHECK_THROWS_WITH(c10::cuda::getStreamFromPool(), support::Contains("Device::CUDA: "));
  CHECK_THROWS_WITH(c10::cuda::CUDAGuard(0), support::Contains("Device::CUDA: "));
  CHECK_THROWS_WITH(at::cuda::CUDAGraph().capture_begin(), support::Contains("Device::CUDA: "));
  CHECK_THROWS_WITH(c10::cuda::device_count_ensure_non_zero(),
                    support::Contains("No CUDA GPUs are available: torch::cuda::is_available()"));
}

TEST_CASE("CUDA streams and events and guards work under the names of libtorch") {
  if (!torch::cuda::is_available()) return;
  const auto first = at::cuda::getCurrentCUDAStream();
  const c10::cuda::CUDAStream side = at::cuda::getStreamFromPool(/*isHighPriority=*/false);
  CHECK(first == c10::cuda::getDefaultCUDAStream());
  CHECK(side != first);
  CHECK(side.stream() == side.handle());
  torch::Tensor x;
  at::cuda::CUDAEvent done;
  CHECK_FALSE(done.isCreated());
  {
    const c10::cuda::CUDAStreamGuard guard(side);
    CHECK(at::cuda::getCurrentCUDAStream() == side);
    CHECK(guard.original_stream() == first);
    x = torch::full({8}, 2, torch::kCUDA) * 3;
    done.record(side);
  }
  CHECK(at::cuda::getCurrentCUDAStream() == first);
  done.block(first);
  x.record_stream(first);
  CHECK(x.sum().item<float>() == 48);
  CHECK(done.isCreated());

  c10::cuda::setCurrentCUDAStream(side);
  CHECK(at::cuda::getCurrentCUDAStream() == side);
  c10::cuda::setCurrentCUDAStream(first);
  CHECK(at::cuda::getCurrentCUDAStream() == first);

  const auto index = c10::cuda::current_device();
  {
    c10::cuda::CUDAGuard guard(index);
    guard.set_index(static_cast<int64_t>(c10::cuda::device_count()) - 1);
    CHECK(c10::cuda::current_device() == guard.current_device().index());
    CHECK(guard.original_device().index() == index);
  }
  CHECK(c10::cuda::current_device() == index);
}

TEST_CASE("allocator statistics and a captured graph work under the names of libtorch") {
  if (!torch::cuda::is_available()) return;
  namespace allocator = c10::cuda::CUDACachingAllocator;
  const auto index = c10::cuda::current_device();
  const auto before = allocator::getDeviceStats(index);
  torch::Tensor x = torch::ones({1 << 16}, torch::kCUDA);
  const auto after = allocator::getDeviceStats(index);
  const size_t all = static_cast<size_t>(allocator::StatType::AGGREGATE);
  CHECK(after.allocated_bytes[all].current - before.allocated_bytes[all].current >= (1 << 18));
  CHECK(after.reserved_bytes[all].current >= after.allocated_bytes[all].current);
  CHECK(after.allocated_bytes[all].peak >= after.allocated_bytes[all].current);

  at::cuda::CUDAGraph graph;
  graph.capture_begin();
  x.add_(1);
  graph.capture_end();
  for (int i = 0; i < 3; ++i) graph.replay();
  CHECK(x[0].item<float>() == 4);
  allocator::emptyCache();
}
