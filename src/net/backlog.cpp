#include "net/backlog.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>

namespace hocket {

std::size_t fit_backlog(const Descriptor& socket) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  std::size_t backlog = kBacklogMax;
  const bool known = ::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &length) == 0 &&
                     length >= offsetof(tcp_info, tcpi_delivery_rate) + sizeof(info.tcpi_delivery_rate);
  if (known && info.tcpi_delivery_rate > 0) backlog = backlog_at(info.tcpi_delivery_rate);
  const int bytes = static_cast<int>(backlog);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes));
  return backlog;
}

bool all_confirmed(const Descriptor& socket) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (::getsockopt(socket.get(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return true;
  const bool tells = length >= offsetof(tcp_info, tcpi_notsent_bytes) + sizeof(info.tcpi_notsent_bytes);
  return info.tcpi_unacked == 0 && (!tells || info.tcpi_notsent_bytes == 0);
}

}  // namespace hocket
