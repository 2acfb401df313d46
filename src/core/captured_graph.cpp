// cuda::Graph: the states of a capture, and the checks of its calls. The CUDA plugin implements DeviceGraph.
#include <ebb/cuda/graph.h>

#include "core/backend.h"
#include "core/capture.h"

namespace ebb::cuda {

struct Graph::Impl {
  enum class State { empty, capturing, captured };

  explicit Impl(Device on) : device(on), graph(detail::backend(kCUDA).make_graph(on)) {}
  ~Impl() {
    if (state != State::capturing) return;
    if (detail::current_capture() == capture.get()) {
      discard();
    } else {  // another thread is still capturing and uses the graph, so the graph is leaked, not destroyed
      static_cast<void>(capture.release());
      static_cast<void>(graph.release());
    }
  }
  void discard() noexcept {
    detail::set_current_capture(nullptr);
    graph->discard();
    forget();
  }
  void forget() noexcept {
    capture.reset();
    pool.reset();
    state = State::empty;
  }

  Device device;
  std::unique_ptr<detail::Capture> capture;
  std::unique_ptr<detail::DeviceGraph> graph;
  std::shared_ptr<detail::DeviceGraphPool> pool;
  State state = State::empty;
};

Graph::Graph(Device device) : impl_(std::make_unique<Impl>(Stream::current(device).device())) {}
Graph::~Graph() = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;

Graph::Impl& Graph::checked(const char* call) const {
  EBB_CHECK(impl_, "cuda::Graph::", call, ": the graph was moved from. Make another.");
  return *impl_;
}

GraphPool graph_pool_handle() { return GraphPool(detail::backend(kCUDA).make_graph_pool()); }

void Graph::capture_begin() { capture_begin(graph_pool_handle()); }

void Graph::capture_begin(const GraphPool& pool) {
  Impl& g = checked("capture_begin");
  EBB_CHECK(
      !detail::current_capture(),
      "cuda::Graph::capture_begin: a capture is under way on this thread already. End it first; captures "
      "do not nest.");
  EBB_CHECK(g.state == Impl::State::empty,
            "cuda::Graph::capture_begin: the graph has been captured. Call reset() to capture again.");
  EBB_CHECK(pool.pool_, "cuda::Graph::capture_begin: the pool was moved from. Use another.");
  auto capture = std::make_unique<detail::Capture>();
  detail::note_side_stream();
  g.graph->begin(capture.get(), pool.pool_);
  g.capture = std::move(capture);
  g.pool = pool.pool_;
  g.state = Impl::State::capturing;
  detail::set_current_capture(g.capture.get());
}

void Graph::capture_end() {
  Impl& g = checked("capture_end");
  EBB_CHECK(
      g.state == Impl::State::capturing && detail::current_capture() == g.capture.get(),
      "cuda::Graph::capture_end: this thread is not capturing the graph. Call capture_begin() first, on "
      "the same thread.");
  try {
    detail::set_current_capture(nullptr);
    g.graph->end();
  } catch (...) {
    g.forget();
    throw;
  }
  g.state = Impl::State::captured;
}

void Graph::capture(const std::function<void()>& step) { capture(step, graph_pool_handle()); }

void Graph::capture(const std::function<void()>& step, const GraphPool& pool) {
  capture_begin(pool);
  try {
    step();
  } catch (...) {
    if (impl_ && impl_->state == Impl::State::capturing) impl_->discard();
    throw;
  }
  capture_end();
}

GraphUpdate Graph::update(const std::function<void()>& step) {
  Impl& g = checked("update");
  EBB_CHECK(!detail::current_capture(),
            "cuda::Graph::update: a capture is under way on this thread. Update the graph outside of it.");
  EBB_CHECK(g.state == Impl::State::captured,
            "cuda::Graph::update: nothing has been captured. Call capture() first.");
  auto capture = std::make_unique<detail::Capture>();
  g.graph->begin(capture.get(), g.pool);
  // Sets the state `capturing`, in which the calls of this graph fail, because the captured step must not use
  // the graph itself.
  g.state = Impl::State::capturing;
  detail::set_current_capture(capture.get());
  try {
    step();
  } catch (...) {
    detail::set_current_capture(nullptr);
    g.graph->abandon();
    g.state = Impl::State::captured;
    throw;
  }
  detail::set_current_capture(nullptr);
  try {
    GraphUpdate done = g.graph->end_update();
    g.capture = std::move(capture);
    g.state = Impl::State::captured;
    return done;
  } catch (...) {
    g.state = Impl::State::captured;
    if (!g.graph->is_ready()) g.forget();
    throw;
  }
}

void Graph::replay() { replay(Stream::current(checked("replay").device)); }

void Graph::replay(const Stream& stream) {
  Impl& g = checked("replay");
  EBB_CHECK(!detail::current_capture(),
            "cuda::Graph::replay: a capture is under way on this thread. Replay the graph outside of it.");
  EBB_CHECK(g.state == Impl::State::captured,
            "cuda::Graph::replay: nothing has been captured. Call capture() first.");
  EBB_CHECK(stream.device() == g.device, "cuda::Graph::replay: the graph was captured on ", g.device,
            " and cannot run on a stream of ", stream.device(), ". Use a stream of its own device.");
  g.graph->replay(stream.handle());
}

void Graph::reset() {
  Impl& g = checked("reset");
  EBB_CHECK(g.state != Impl::State::capturing,
            "cuda::Graph::reset: the graph is being captured. Call capture_end() first.");
  g.graph->discard();
  g.forget();
}

bool Graph::is_captured() const { return impl_ && impl_->state == Impl::State::captured; }
GraphPool Graph::pool() const {
  const Impl& g = checked("pool");
  EBB_CHECK(g.pool, "cuda::Graph::pool: nothing has been captured. Call capture() first.");
  return GraphPool(g.pool);
}
Device Graph::device() const { return checked("device").device; }

}  // namespace ebb::cuda

namespace ebb::detail {
namespace {
thread_local constinit Capture* capture_of_thread = nullptr;
}

NdArray Capture::array(IntArrayRef sizes, DType dtype, Device device) {
  const Backend& backend = detail::backend(device.type());
  struct Restore {
    const Backend& backend;
    std::shared_ptr<const void> state;
    ~Restore() { backend.set_thread_state(state.get()); }
  } restore{backend, backend.thread_state()};
  backend.leave_capture();
  return NdArray::empty(sizes, dtype, device);
}

Capture* current_capture() noexcept { return capture_of_thread; }
void set_current_capture(Capture* capture) noexcept { capture_of_thread = capture; }

}  // namespace ebb::detail
