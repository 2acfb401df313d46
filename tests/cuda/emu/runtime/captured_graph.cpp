// Stream capture: work for the streams of a capture is recorded in call order, which is one of the orders
// that its events allow.
#include "cuda/emu/runtime/state.h"

#include <utility>

namespace ebb::emu {

void capture_work(CUstream_st& stream, std::function<void()> action, NodeType type) {
  auto& nodes = stream.capture->graph->nodes;
  GraphNode node{std::move(action), type, {}};
  for (const CUstream_st* each : stream.capture->streams) {
    const auto known = stream.before.find(each);
    node.after.push_back(known == stream.before.end() ? 0 : known->second);
  }
  while (!node.after.empty() && node.after.back() == 0) node.after.pop_back();
  nodes.push_back(std::move(node));
  stream.before[&stream] = nodes.size();
}

void capture_graph(CUstream_st& stream, const std::vector<GraphNode>& nodes) {
  for (const GraphNode& node : nodes) capture_work(stream, node.action, node.type);
}

namespace {

// Whether all work of other streams precedes the end of the stream that began the capture.
bool is_joined(const Capturing& capture) {
  for (const CUstream_st* stream : capture.streams) {
    const auto own = stream->before.find(stream);
    if (own == stream->before.end()) continue;
    const auto known = capture.origin->before.find(stream);
    if (known == capture.origin->before.end() || known->second < own->second) return false;
  }
  return true;
}

}  // namespace
}  // namespace ebb::emu

using namespace ebb::emu;

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const std::lock_guard lock(stream_mutex());
  *status = !stream || !stream->capture ? cudaStreamCaptureStatusNone
            : stream->capture->broken   ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (const cudaError_t error = injected_error()) return error;
  if (!stream) return set_error(cudaErrorStreamCaptureUnsupported);
  const std::lock_guard lock(stream_mutex());
  if (stream->capture) return set_error(cudaErrorIllegalState);
  stream->capture = std::make_shared<Capturing>(Capturing{stream, {stream}});
  stream->before.clear();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  const cudaError_t injected = injected_error();
  const std::lock_guard lock(stream_mutex());
  if (!stream || !stream->capture || stream->capture->origin != stream)
    return set_error(cudaErrorIllegalState);
  const std::shared_ptr<Capturing> capture = stream->capture;
  for (CUstream_st* each : capture->streams) each->capture.reset();
  if (injected) return injected;
  if (capture->broken) return set_error(cudaErrorStreamCaptureInvalidated);
  if (!is_joined(*capture)) return set_error(cudaErrorStreamCaptureUnjoined);
  *graph = capture->graph.release();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  if (const cudaError_t error = injected_error()) return error;
  *exec = new CUgraphExec_st{graph->nodes, nullptr};
  return cudaSuccess;
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  info->result = cudaGraphExecUpdateError;
  if (const cudaError_t error = injected_error()) return error;
  const std::lock_guard lock(stream_mutex());
  bool same = exec->nodes.size() == graph->nodes.size(), types = true;
  for (std::size_t i = 0; same && i < graph->nodes.size(); ++i) {
    same = exec->nodes[i].after == graph->nodes[i].after;
    types = types && exec->nodes[i].type == graph->nodes[i].type;
  }
  info->result = !same    ? cudaGraphExecUpdateErrorTopologyChanged
                 : !types ? cudaGraphExecUpdateErrorNodeTypeChanged
                          : cudaGraphExecUpdateSuccess;
  if (info->result != cudaGraphExecUpdateSuccess) return set_error(cudaErrorGraphExecUpdateFailure);
  exec->nodes = graph->nodes;  // queued work keeps its own copy
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  if (const cudaError_t error = injected_error()) return error;
  const std::lock_guard lock(stream_mutex());
  CUstream_st& stream = stream_behind(handle);
  if (stream.capture) {
    capture_graph(stream, exec->nodes);
    return cudaSuccess;
  }
  queue_work(stream, {nullptr, exec->last});
  for (const GraphNode& node : exec->nodes) queue_work(stream, {node.action, nullptr});
  const auto done = std::make_shared<Mark>(Mark{&stream});
  queue_work(stream, {[done] { done->reached = true; }, nullptr});
  exec->last = done;
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}
