// Streams, events and graphs. There is one order of execution, that of the calls, so waiting is never needed.
#include <chrono>
#include <utility>
#include <vector>

#include "cuda/emu/state.h"

struct CUgraph_st {
  std::vector<std::function<void()>> actions;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> actions;
};
struct CUstream_st {
  CUgraph_st* recording = nullptr;
  bool broken = false;
};
struct CUevent_st {
  std::chrono::steady_clock::time_point at;
};

using namespace ebb::emu;

namespace ebb::emu {

cudaError_t enqueue(cudaStream_t stream, std::function<void()> action) {
  if (stream && stream->recording) {
    stream->recording->actions.push_back(std::move(action));
    return cudaSuccess;
  }
  const DeviceAccess access;
  action();
  return cudaSuccess;
}

}  // namespace ebb::emu

namespace {

// What must not happen while a stream is being captured: it spoils the capture.
cudaError_t refuse_while_capturing(cudaStream_t stream) {
  if (!stream || !stream->recording) return cudaSuccess;
  stream->broken = true;
  return set_error(cudaErrorStreamCaptureUnsupported);
}

}  // namespace

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return refuse_while_capturing(stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return refuse_while_capturing(stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = !stream || !stream->recording ? cudaStreamCaptureStatusNone
            : stream->broken              ? cudaStreamCaptureStatusInvalidated
                                          : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (!stream) return set_error(cudaErrorStreamCaptureUnsupported);
  if (stream->recording) return set_error(cudaErrorInvalidValue);
  stream->recording = new CUgraph_st;
  stream->broken = false;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  if (!stream || !stream->recording) return set_error(cudaErrorInvalidValue);
  CUgraph_st* const recorded = std::exchange(stream->recording, nullptr);
  if (stream->broken) {
    delete recorded;
    return set_error(cudaErrorStreamCaptureInvalidated);
  }
  *graph = recorded;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = new CUgraphExec_st{graph->actions};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  for (const auto& action : exec->actions) enqueue(stream, action);
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

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st{std::chrono::steady_clock::now()};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->at = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
  return cudaSuccess;
}
