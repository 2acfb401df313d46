// A relay between two network devices. It passes on every frame, late, in another order, or not at all.
//
// Usage: relay DEVICE DEVICE DELAY JITTER LOSS, where DELAY and JITTER are milliseconds, and LOSS is the
// percentage of the frames that are lost. A jitter reorders frames.
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

// Opens a socket that receives all frames which arrive at the device.
int open_device(const char* name) {
  const int socket = ::socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(if_nametoindex(name));
  // Frames arrive with a header that says which checksums the network card would still have to compute, and
  // send() takes the same header.
  const int on = 1;
  setsockopt(socket, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on);
  if (socket < 0 || bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror(name);
    std::exit(1);
  }
  return socket;
}

struct Frame {
  int target;
  std::vector<char> bytes;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const std::array<int, 2> sockets = {open_device(argv[1]), open_device(argv[2])};
  const auto delay = milliseconds(std::atoi(argv[3]));
  const auto jitter = duration_cast<microseconds>(milliseconds(std::atoi(argv[4])));
  const double loss = std::atof(argv[5]) / 100;
  std::minstd_rand random(7);
  std::uniform_real_distribution<double> chance;
  std::multimap<Clock::time_point, Frame> queue;  // by the time at which a frame leaves
  std::vector<char> buffer(1 << 17);
  std::puts("ready");
  std::fflush(stdout);
  while (true) {
    const auto now = Clock::now();
    while (!queue.empty() && queue.begin()->first <= now) {
      const Frame& frame = queue.begin()->second;
      // A device that is down loses the frame, as a cut cable does.
      static_cast<void>(send(frame.target, frame.bytes.data(), frame.bytes.size(), 0));
      queue.erase(queue.begin());
    }
    const int wait =
        queue.empty() ? 1000
                      : static_cast<int>(duration_cast<milliseconds>(queue.begin()->first - now).count()) + 1;
    std::array<pollfd, 2> polls = {pollfd{sockets[0], POLLIN, 0}, pollfd{sockets[1], POLLIN, 0}};
    poll(polls.data(), polls.size(), wait);
    for (std::size_t i = 0; i < 2; ++i) {
      sockaddr_ll from{};
      socklen_t length = sizeof from;
      ssize_t size = 0;
      while ((size = recvfrom(sockets[i], buffer.data(), buffer.size(), MSG_DONTWAIT,
                              reinterpret_cast<sockaddr*>(&from), &length)) > 0) {
        // A socket also sees the frames that leave by its device.
        if (from.sll_pkttype == PACKET_OUTGOING || chance(random) < loss) continue;
        const auto late =
            microseconds(static_cast<std::int64_t>(chance(random) * static_cast<double>(jitter.count())));
        queue.emplace(Clock::now() + delay + late,
                      Frame{sockets[1 - i], {buffer.data(), buffer.data() + size}});
      }
    }
  }
}
