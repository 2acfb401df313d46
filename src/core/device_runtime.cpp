// The public functions of namespace cuda, which call the backend's table. NVTX ranges go through the plugin,
// because only the plugin includes NVIDIA's header.
#include <ebb/core/deterministic.h>
#include <ebb/cuda/cuda.h>
#include <ebb/cuda/nvtx.h>

#include "core/backend.h"
#include "core/memory_snapshot.h"
#include "core/recorder.h"

#include <atomic>
#include <utility>

namespace ebb::cuda {

std::size_t device_count() noexcept {
  try {
    const int count = detail::backend(DeviceType::CUDA).device_count();
    return count > 0 ? static_cast<std::size_t>(count) : 0;
  } catch (...) {
    return 0;  // a missing device is not an error here
  }
}

bool is_available() noexcept { return device_count() > 0; }

namespace {

const detail::Backend& backend() { return detail::backend(DeviceType::CUDA); }

// Converts an index of the public functions to a device; -1 means the current device.
Device device_at(const char* op, std::int64_t index) {
  const std::int64_t count = backend().device_count();
  EBB_CHECK(index >= -1 && index < count, "cuda::", op, ": device index ", index,
            " is out of range; there are ", count, " devices.");
  return index < 0 ? backend().current_device() : Device(DeviceType::CUDA, index);
}

Device with_index(const char* op, Device device) {
  EBB_CHECK(device.is_cuda(), "cuda::", op, ": needs a CUDA device, got ", device, ".");
  return device_at(op, device.index());
}

}  // namespace

void synchronize(std::int64_t device_index) { backend().synchronize(device_at("synchronize", device_index)); }

DeviceProperties get_device_properties(std::int64_t device_index) {
  return backend().properties(device_at("get_device_properties", device_index));
}
std::int64_t current_device() { return backend().current_device().index(); }
void set_device(std::int64_t device_index) { backend().set_device(device_at("set_device", device_index)); }

DeviceGuard::DeviceGuard(Device device) {
  if (!device.is_cuda()) return;
  const Device wanted = with_index("DeviceGuard", device);
  previous_ = current_device();
  backend().set_device(wanted);
}
DeviceGuard::~DeviceGuard() {
  if (previous_ < 0) return;
  try {
    backend().set_device(Device(DeviceType::CUDA, previous_));
  } catch (const Error&) {
    // The device is lost. The next call on the device reports the error.
  }
}

MemoryStats memory_stats(std::int64_t device_index) {
  return backend().memory_stats(device_at("memory_stats", device_index));
}
void reset_peak(std::int64_t device_index) { backend().reset_peak(device_at("reset_peak", device_index)); }
void empty_cache() {
  for (std::size_t i = 0; i < device_count(); ++i)
    backend().empty_cache(Device(DeviceType::CUDA, static_cast<std::int64_t>(i)));
}

void set_per_process_memory_fraction(double fraction, std::int64_t device_index) {
  EBB_CHECK(fraction >= 0 && fraction <= 1,
            "cuda::set_per_process_memory_fraction: fraction, the "
            "part of the device's memory that ebb may use, must be between 0 and 1, got ",
            fraction, ".");
  backend().set_memory_fraction(device_at("set_per_process_memory_fraction", device_index), fraction);
}
double get_per_process_memory_fraction(std::int64_t device_index) {
  return backend().memory_fraction(device_at("get_per_process_memory_fraction", device_index));
}
void set_allocator_settings(std::string_view settings) { backend().set_allocator_settings(settings); }
std::string memory_snapshot() {
  return detail::to_json(is_available() ? backend().memory_snapshot() : detail::MemorySnapshot());
}
void record_memory_history(std::size_t max_entries) {
  if (is_available()) backend().record_memory_history(max_entries);
}

Stream Stream::from_pool(Device device) {
  const Device on = with_index("Stream::from_pool", device);
  return {on, backend().pool_stream(on)};
}
Stream Stream::default_stream(Device device) {
  return {with_index("Stream::default_stream", device), nullptr};
}
Stream Stream::current(Device device) {
  const Device on = with_index("Stream::current", device);
  return {on, backend().current_stream(on)};
}
void Stream::synchronize() const { backend().stream_synchronize(device_, handle_); }
bool Stream::query() const { return backend().stream_query(device_, handle_); }
void Stream::wait(const Event& event) const {
  if (event.handle()) backend().stream_wait(device_, handle_, event.handle());
}

void Stream::wait(const Stream& other) const {
  backend().order_streams(other.device_, other.handle_, device_, handle_);
}

StreamGuard::StreamGuard(const Stream& stream) : previous_(Stream::current(stream.device_)) {
  if (stream.handle_) detail::note_side_stream();
  backend().set_stream(stream.device_, stream.handle_);
}
StreamGuard::~StreamGuard() { backend().set_stream(previous_.device_, previous_.handle_); }

Event::~Event() {
  if (handle_) backend().event_destroy(device_, handle_);
}
Event::Event(Event&& other) noexcept
    : timing_(other.timing_), device_(other.device_), handle_(std::exchange(other.handle_, nullptr)) {}
Event& Event::operator=(Event&& other) noexcept {
  std::swap(timing_, other.timing_);
  std::swap(device_, other.device_);
  std::swap(handle_, other.handle_);
  return *this;
}
void Event::record(const Stream& stream) {
  EBB_CHECK(!handle_ || device_ == stream.device(), "cuda::Event: the event was first recorded on ", device_,
            " and cannot be recorded on ", stream.device(), ". Use another event.");
  device_ = stream.device();
  if (!handle_) handle_ = backend().event_create(device_, timing_);
  backend().event_record(device_, handle_, stream.handle());
}
void Event::synchronize() const {
  if (handle_) backend().event_synchronize(device_, handle_);
}
bool Event::query() const { return !handle_ || backend().event_query(device_, handle_); }
float Event::elapsed_time(const Event& later) const {
  EBB_CHECK(timing_ && later.timing_ && handle_ && later.handle_,
            "cuda::Event::elapsed_time: needs two recorded events made with timing = true.");
  later.synchronize();
  return backend().event_elapsed(device_, handle_, later.handle_);
}

void manual_seed(std::uint64_t seed) {
  detail::not_replayed("the generators of the devices are seeded");
  if (is_available()) detail::backend(DeviceType::CUDA).manual_seed(seed);
}
void manual_seed_all(std::uint64_t seed) { manual_seed(seed); }

namespace {
constinit std::atomic<bool> tf32_allowed{false};
constinit std::atomic<bool> convolutions_benchmarked{false};
constinit std::atomic<bool> cudnn_enabled{true};
constinit std::atomic<bool> cudnn_deterministic{false};
}  // namespace

void allow_tf32(bool allow) { tf32_allowed.store(allow, std::memory_order_relaxed); }
bool is_tf32_allowed() { return tf32_allowed.load(std::memory_order_relaxed); }

void benchmark_convolutions(bool benchmark) {
  convolutions_benchmarked.store(benchmark, std::memory_order_relaxed);
}
bool are_convolutions_benchmarked() { return convolutions_benchmarked.load(std::memory_order_relaxed); }

void enable_cudnn(bool enable) { cudnn_enabled.store(enable, std::memory_order_relaxed); }
void use_deterministic_cudnn(bool deterministic) {
  cudnn_deterministic.store(deterministic, std::memory_order_relaxed);
}
bool is_cudnn_deterministic() {
  return cudnn_deterministic.load(std::memory_order_relaxed) || are_deterministic_algorithms_enabled();
}
bool is_cudnn_enabled() { return cudnn_enabled.load(std::memory_order_relaxed); }
bool cudnn_is_available() noexcept { return is_available() && backend().has_dnn(); }

}  // namespace ebb::cuda

namespace ebb {

constinit std::atomic<bool> detail::nvtx_emitted{false};

namespace cuda {
namespace {

// Returns the CUDA backend, or null if there is no device. Checks only once, because each attempt to load a
// missing plugin would throw.
const detail::Backend* backend_or_null() noexcept {
  static const bool there = is_available();
  return there ? detail::loaded_backend(DeviceType::CUDA) : nullptr;
}

constexpr int kNotCounted = -1;

}  // namespace

int nvtx::range_push(const char* message) noexcept {
  const detail::Backend* const backend = backend_or_null();
  return backend ? backend->range_push(message) : kNotCounted;
}
int nvtx::range_pop() noexcept {
  const detail::Backend* const backend = backend_or_null();
  return backend ? backend->range_pop() : kNotCounted;
}
void nvtx::mark(const char* message) noexcept {
  if (const detail::Backend* const backend = backend_or_null()) backend->mark(message);
}
std::uint64_t nvtx::range_start(const char* message) noexcept {
  const detail::Backend* const backend = backend_or_null();
  return backend ? backend->range_start(message) : 0;
}
void nvtx::range_end(std::uint64_t id) noexcept {
  if (const detail::Backend* const backend = backend_or_null()) backend->range_end(id);
}

void emit_nvtx(bool emit) noexcept { detail::nvtx_emitted.store(emit, std::memory_order_relaxed); }
bool is_nvtx_emitted() noexcept { return detail::nvtx_emitted.load(std::memory_order_relaxed); }

}  // namespace cuda
}  // namespace ebb
