// Rendezvous: notes between processes that no MPI connects, over TCP.
#include "distributed/nccl/rendezvous.h"

#include <ebb/core/environment.h>
#include <ebb/core/warning.h>

#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <string_view>
#include <thread>

namespace ebb::distributed::nccl {
namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;

constexpr const char* kToken = "EBB_RENDEZVOUS_TOKEN";
constexpr char kWelcome = 'w';
// Connections that have not sent a token. The oldest one is closed if there are more.
constexpr std::size_t kMostStrangers = 256;
constexpr auto kEndTime = std::chrono::seconds(2);

struct Hello {
  char token[64] = {};
  std::int32_t rank = 0, world_size = 0;
};
struct Packet {
  std::int32_t from = 0, to = 0;
  Note note;
};

/// A connection that carries objects of fixed sizes. No call waits.
struct Peer {
  explicit Peer(int descriptor) : file(descriptor) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { ::close(file); }

  // Takes an object. Returns false if it has not arrived completely.
  template <class T>
  bool take(T& object) {
    const ssize_t length = gone ? 0 : ::recv(file, &object, sizeof object, MSG_PEEK | MSG_DONTWAIT);
    gone = length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR);
    return length == sizeof object && ::recv(file, &object, sizeof object, 0) == sizeof object;
  }
  // The buffer of the socket holds thousands of notes. It is full only if the other process is stopped.
  template <class T>
  void put(const T& object) {
    if (!gone) gone = ::send(file, &object, sizeof object, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof object;
  }

  const int file;
  bool gone = false;
};

class Rendezvous : public Transport {
 public:
  explicit Rendezvous(const Setup& setup) : launch_(setup.launch), until_(Clock::now() + setup.timeout) {
    const char* const token = ebb::detail::environment(kToken);
    const std::string_view shown = token ? token : "";
    EBB_CHECK(shown.size() < sizeof own_.token, "distributed::init: ", kToken, " has ",
              std::int64_t(shown.size()), " characters, but must have fewer than ",
              std::int64_t{sizeof own_.token});
    shown.copy(own_.token, shown.size());
    own_.rank = rank();
    own_.world_size = size();
    // torchrun itself listens at the master's port then.
    const char* const taken = ebb::detail::environment("TORCHELASTIC_USE_AGENT_STORE");
    if (taken && std::strcmp(taken, "True") == 0) launch_.master_port += launch_.master_port < 65535 ? 1 : -1;
    peers_.resize(static_cast<std::size_t>(rank() == 0 ? size() : 1));
    rank() == 0 ? admit() : join();
  }

  int rank() const override { return launch_.rank; }
  int size() const override { return launch_.world_size; }
  std::unique_ptr<Operation> start(const Request&) override {
    ebb::detail::fail("a rendezvous has no collectives. Use the backend \"nccl\"");
  }
  std::unique_ptr<Transport> split(const std::vector<int>&) override { return nullptr; }

  void post(int rank, const Note& note) override { forward({launch_.rank, rank, note}); }
  std::optional<std::pair<int, Note>> poll() override {
    for (const auto& peer : peers_)
      for (Packet packet; peer && peer->take(packet);)
        if (packet.to == rank())
          inbox_.emplace_back(packet.from, packet.note);
        else
          forward(packet);
    if (inbox_.empty()) return std::nullopt;
    const auto first = inbox_.front();
    inbox_.pop_front();
    return first;
  }
  // Rank 0 leaves last, because the last notes of the others go through it.
  void close(bool) override {
    const auto is_open = [](const auto& peer) { return peer && !peer->gone; };
    for (const auto until = Clock::now() + kEndTime;
         rank() == 0 && std::any_of(peers_.begin(), peers_.end(), is_open) && Clock::now() < until;
         std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      poll();
    peers_.clear();
  }

 private:
  // Sends a packet to its rank, through rank 0.
  void forward(const Packet& packet) {
    const auto at = static_cast<std::size_t>(rank() == 0 ? packet.to : 0);
    if (at < peers_.size() && peers_[at]) peers_[at]->put(packet);
  }
  std::string place() const {
    return ebb::detail::text(launch_.master_address, ", port ", launch_.master_port);
  }

  // Returns a socket that listens at the master's address, or is connected with it, or -1. With a token,
  // rank 0 listens at all addresses, because on its own machine its name may mean 127.0.1.1.
  int open_socket(bool listens) const {
    const std::string& master = launch_.master_address;
    const bool is_local = master == "localhost" || master == "::1" || master.starts_with("127.");
    const bool anywhere = listens && own_.token[0] && !is_local;
    for (const std::string& name : anywhere ? Words{"::", "0.0.0.0"} : Words{master}) {
      addrinfo hints{}, *found = nullptr;
      hints.ai_socktype = SOCK_STREAM;
      const int code = getaddrinfo(name.c_str(), std::to_string(launch_.master_port).c_str(), &hints, &found);
      EBB_CHECK(code == 0, "distributed::init: MASTER_ADDR \"", name,
                "\" is no address: ", gai_strerror(code), ". Set it to the host of rank 0");
      const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
      for (const addrinfo* each = found; each; each = each->ai_next) {
        const int file = socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
        if (file < 0) continue;
        const timeval second{1, 0};  // of connect(), which otherwise waits two minutes for an answer
        setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
        setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (listens ? bind(file, each->ai_addr, each->ai_addrlen) == 0 && listen(file, SOMAXCONN) == 0
                    : connect(file, each->ai_addr, each->ai_addrlen) == 0)
          return file;
        ::close(file);
      }
    }
    return -1;
  }

  // Whether a connection shows the token, and a rank that is missing. Compares all bytes, so that the time
  // tells nothing about the token.
  bool is_expected(const Hello& hello) const {
    int difference = hello.world_size ^ size();
    for (std::size_t i = 0; i < sizeof own_.token; ++i) difference |= hello.token[i] ^ own_.token[i];
    return difference == 0 && hello.rank > 0 && hello.rank < size() &&
           !peers_[static_cast<std::size_t>(hello.rank)];
  }

  void admit() {
    const int file = open_socket(/*listens=*/true);
    EBB_CHECK(file >= 0, "distributed::init: rank 0 cannot listen at ", place(), ": ", std::strerror(errno),
              ". Set MASTER_ADDR to an address of this machine, and MASTER_PORT to a port that is free");
    const Peer listener(file);
    if (!own_.token[0])
      ebb::warn("distributed::init: there is no token, so that anyone who reaches ", place(),
                " can join. Start the program with `ebb run`, or keep the port closed");
    std::deque<std::unique_ptr<Peer>> strangers;
    for (int missing = size() - 1; missing > 0;) {
      EBB_CHECK(Clock::now() < until_, "distributed::init: ", missing, " of ", size(),
                " ranks have not connected with rank 0 at ", place(),
                " within the time limit. Look for errors of the other ranks, and for a firewall");
      pollfd waits{listener.file, POLLIN, 0};
      if (::poll(&waits, 1, 5) > 0)
        if (const int next = accept4(listener.file, nullptr, nullptr, SOCK_CLOEXEC); next >= 0)
          strangers.push_back(std::make_unique<Peer>(next));
      for (std::unique_ptr<Peer>& stranger : strangers) {
        Hello hello;
        const bool complete = stranger->take(hello);
        if (complete && is_expected(hello)) {
          stranger->put(kWelcome);
          peers_[static_cast<std::size_t>(hello.rank)] = std::move(stranger);
          --missing;
        } else if (complete || stranger->gone) {
          stranger.reset();
        }
      }
      std::erase(strangers, nullptr);
      if (strangers.size() > kMostStrangers) strangers.pop_front();
    }
  }

  void join() {
    const auto check_time = [this](const char* state) {
      EBB_CHECK(Clock::now() < until_, "distributed::init: rank ", rank(), " ", state, " rank 0 at ", place(),
                " within the time limit. Look for an error of rank 0, and for a firewall");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    };
    int file = -1;
    for (; (file = open_socket(/*listens=*/false)) < 0;) check_time("cannot connect with");
    Peer& master = *(peers_[0] = std::make_unique<Peer>(file));
    master.put(own_);
    char answer = 0;
    while (!master.take(answer) && !master.gone) check_time("got no answer from");
    EBB_CHECK(
        answer == kWelcome, "distributed::init: rank 0 at ", place(), " refuses rank ", rank(), " of ",
        size(), ": its token (", kToken,
        ") or WORLD_SIZE differs, the rank is there twice, or rank 0 has ended. Start all ranks with one "
        "launcher");
  }

  Launch launch_;
  Clock::time_point until_;
  Hello own_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank on rank 0; elsewhere only rank 0
  std::deque<std::pair<int, Note>> inbox_;
};

}  // namespace

std::unique_ptr<Transport> open_rendezvous(const Setup& setup) { return std::make_unique<Rendezvous>(setup); }

}  // namespace ebb::distributed::nccl
