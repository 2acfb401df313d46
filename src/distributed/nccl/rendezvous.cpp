// Rendezvous: notes between processes that no MPI connects, over TCP.
#include "distributed/nccl/rendezvous.h"

#include <ebb/core/environment.h>
#include <ebb/core/warning.h>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

namespace ebb::distributed::nccl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kToken = "EBB_RENDEZVOUS_TOKEN";

struct Hello {
  char token[64] = {};
  std::int32_t rank = 0, world_size = 0;
};
struct Packet {
  std::int32_t from = 0, to = 0;
  Note note;
};

// Compares all bytes, so that the time tells nothing about the token.
bool equal(const Hello& a, const Hello& b) {
  int difference = 0;
  for (std::size_t i = 0; i < sizeof a.token; ++i) difference |= a.token[i] ^ b.token[i];
  return difference == 0 && a.world_size == b.world_size;
}

struct Peer {
  int file = -1;
  std::string arrived, queued;

  void drop() {
    if (file >= 0) close(std::exchange(file, -1));
  }
  void exchange() {
    if (file < 0) return;
    const ssize_t sent = queued.empty() ? 0 : ::send(file, queued.data(), queued.size(), MSG_NOSIGNAL);
    if (sent > 0) queued.erase(0, static_cast<std::size_t>(sent));
    char bytes[16 * sizeof(Packet)];
    const ssize_t length = ::recv(file, bytes, sizeof bytes, 0);
    if (length > 0) arrived.append(bytes, static_cast<std::size_t>(length));
    if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) drop();
  }
  // Takes an object off the bytes that have arrived. Returns false if it is not complete.
  template <class T>
  bool take(T& object) {
    if (arrived.size() < sizeof object) return false;
    std::memcpy(&object, arrived.data(), sizeof object);
    arrived.erase(0, sizeof object);
    return true;
  }
  template <class T>
  void put(const T& object) {
    queued.append(reinterpret_cast<const char*>(&object), sizeof object);
  }
};

class Rendezvous : public Transport {
 public:
  explicit Rendezvous(const Setup& setup) : launch_(setup.launch), until_(Clock::now() + setup.timeout) {
    peers_.resize(static_cast<std::size_t>(rank() == 0 ? size() : 1));
    own_.rank = rank();
    own_.world_size = size();
    if (const char* const token = ebb::detail::environment(kToken))
      std::strncpy(own_.token, token, sizeof own_.token - 1);
    if (size() == 1) return;
    // torchrun itself listens at the master's port then.
    const char* const taken = ebb::detail::environment("TORCHELASTIC_USE_AGENT_STORE");
    if (taken && std::strcmp(taken, "True") == 0) launch_.master_port += launch_.master_port < 65535 ? 1 : -1;
    rank() == 0 ? admit() : join();
    // Rank 0 forwards notes also while its other threads wait in NCCL.
    thread_ = std::thread([this] {
      while (!stopping_) {
        std::vector<pollfd> files;
        {
          const std::lock_guard lock(mutex_);
          for (const Peer& peer : peers_) files.push_back({peer.file, POLLIN, 0});
        }
        ::poll(files.data(), files.size(), 50);
        const std::lock_guard lock(mutex_);
        exchange();
      }
    });
  }
  ~Rendezvous() override {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    for (Peer& peer : peers_) peer.drop();
  }

  int rank() const override { return launch_.rank; }
  int size() const override { return launch_.world_size; }
  std::unique_ptr<Operation> start(const Request&) override {
    ebb::detail::fail("a rendezvous has no collectives. Use the backend \"nccl\"");
  }
  std::unique_ptr<Transport> split(const std::vector<int>&) override { return nullptr; }

  void post(int rank, const Note& note) override {
    const std::lock_guard lock(mutex_);
    forward({launch_.rank, rank, note});
    exchange();  // sends it now, because the caller may wait in NCCL
  }
  std::optional<std::pair<int, Note>> poll() override {
    const std::lock_guard lock(mutex_);
    if (inbox_.empty()) return std::nullopt;
    const auto first = inbox_.front();
    inbox_.pop_front();
    return first;
  }
  void close(bool) override {
    const std::lock_guard lock(mutex_);
    const auto until = Clock::now() + milliseconds(500);
    const auto busy = [](const Peer& peer) { return peer.file >= 0 && !peer.queued.empty(); };
    for (; std::any_of(peers_.begin(), peers_.end(), busy) && Clock::now() < until;
         std::this_thread::sleep_for(milliseconds(1)))
      exchange();
  }

 private:
  // Sends and receives what does not wait.
  void exchange() {
    for (Peer& peer : peers_) {
      peer.exchange();
      for (Packet packet; peer.take(packet);)
        if (packet.to == rank())
          inbox_.emplace_back(packet.from, packet.note);
        else if (rank() == 0 && packet.to > 0 && packet.to < size())
          forward(packet);
    }
  }
  void forward(const Packet& packet) {
    peers_[rank() == 0 ? static_cast<std::size_t>(packet.to) : 0].put(packet);
  }
  std::string place() const {
    return ebb::detail::text(launch_.master_address, ", port ", launch_.master_port);
  }

  // Returns a socket that is bound to the master's address, or connected with it, or -1.
  int open_socket(bool listens) const {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    const int code = getaddrinfo(launch_.master_address.c_str(), std::to_string(launch_.master_port).c_str(),
                                 &hints, &found);
    EBB_CHECK(code == 0, "distributed::init: MASTER_ADDR \"", launch_.master_address,
              "\" is no address: ", gai_strerror(code), ". Set it to the host of rank 0");
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, &freeaddrinfo);
    // With a token, rank 0 listens at all addresses, because its name may mean only one of them.
    if (auto* const v4 = reinterpret_cast<sockaddr_in*>(found->ai_addr);
        listens && own_.token[0] && found->ai_family == AF_INET && ntohl(v4->sin_addr.s_addr) >> 24 != 127)
      v4->sin_addr.s_addr = INADDR_ANY;
    const int file = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const bool done = file >= 0 && (listens ? bind(file, found->ai_addr, found->ai_addrlen) == 0 &&
                                                  listen(file, SOMAXCONN) == 0
                                            : connect(file, found->ai_addr, found->ai_addrlen) == 0);
    if (done) fcntl(file, F_SETFL, O_NONBLOCK);
    if (!done && file >= 0) ::close(file);
    return done ? file : -1;
  }

  void admit() {
    Peer listener;
    listener.file = open_socket(/*listens=*/true);
    EBB_CHECK(listener.file >= 0, "distributed::init: rank 0 cannot listen at ", place(), ": ",
              std::strerror(errno),
              ". Set MASTER_ADDR to an address of this machine, and MASTER_PORT to a "
              "port that is free");
    if (!own_.token[0])
      ebb::warn("distributed::init: there is no token, so that anyone who reaches ", place(),
                " can join. Start the program with `ebb run`, or keep the port closed");
    std::vector<Peer> strangers;
    for (int missing = size() - 1; missing > 0;) {
      EBB_CHECK(Clock::now() < until_, "distributed::init: ", missing, " of ", size(),
                " ranks have not connected with rank 0 at ", place(),
                " within the time limit. Look for errors of the other ranks, and for a firewall");
      if (const int file = accept4(listener.file, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK); file >= 0)
        strangers.push_back({file, {}, {}});
      for (Peer& stranger : strangers) {
        stranger.exchange();
        Hello hello;
        if (!stranger.take(hello)) continue;
        const bool known = equal(hello, own_) && hello.rank > 0 && hello.rank < size();
        if (!known || peers_[static_cast<std::size_t>(hello.rank)].file >= 0) {
          stranger.drop();
          continue;
        }
        stranger.put('w');
        peers_[static_cast<std::size_t>(hello.rank)] = std::exchange(stranger, Peer());
        --missing;
      }
      std::erase_if(strangers, [](const Peer& stranger) { return stranger.file < 0; });
      for (Peer& peer : peers_) peer.exchange();
      pollfd waits{listener.file, POLLIN, 0};
      ::poll(&waits, 1, 5);
    }
    for (Peer& stranger : strangers) stranger.drop();
    listener.drop();
    close(true);  // sends what is queued
  }

  void join() {
    Peer& master = peers_[0];
    const auto check_time = [this](const char* state) {
      EBB_CHECK(Clock::now() < until_, "distributed::init: rank ", rank(), " ", state, " rank 0 at ", place(),
                " within the time limit. Look for an error of rank 0, and for a firewall");
      std::this_thread::sleep_for(milliseconds(5));
    };
    for (; (master.file = open_socket(/*listens=*/false)) < 0;) check_time("cannot connect with");
    master.put(own_);
    for (char welcome = 0; !master.take(welcome);) {
      master.exchange();
      EBB_CHECK(master.file >= 0 || !master.arrived.empty(), "distributed::init: rank 0 at ", place(),
                " refuses rank ", rank(), " of ", size(), ": its token (", kToken,
                ") or WORLD_SIZE differs, or the rank is there twice. Start all ranks with one launcher");
      check_time("got no answer from");
    }
  }

  Launch launch_;
  Clock::time_point until_;
  Hello own_;
  std::vector<Peer> peers_;  // by rank on rank 0; elsewhere only rank 0
  std::deque<std::pair<int, Note>> inbox_;
  std::mutex mutex_;  // of peers_ and inbox_, once the thread runs
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Transport> open_rendezvous(const Setup& setup) { return std::make_unique<Rendezvous>(setup); }

}  // namespace ebb::distributed::nccl
