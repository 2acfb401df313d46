// Streams and events, behind the untyped handles of core/backend.h.
#pragma once

#include <ebb/core/device.h>

namespace ebb::cuda {

void* pool_stream(Device device);
void stream_synchronize(Device device, void* stream);
bool stream_query(Device device, void* stream);
void stream_wait(Device device, void* stream, void* event);
void* event_create(Device device, bool timing);
void event_destroy(Device device, void* event) noexcept;
void event_record(Device device, void* event, void* stream);
void event_synchronize(Device device, void* event);
bool event_query(Device device, void* event);
float event_elapsed(Device device, void* from, void* to);
void order_streams(Device first_device, void* first, Device second_device, void* second);
/// Lets two devices copy to each other directly, if the machine supports it.
void allow_peer_access(Device a, Device b);

}  // namespace ebb::cuda
