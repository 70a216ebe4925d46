// What a job that has ended may have left on this host: sockets at its port, and named shared memory.
// Ownership: nothing. Threading: pure functions over /proc and /dev/shm.
// Refuses: nothing; what cannot be read counts as nothing left.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace hocket::test {

/// Sockets that listen, are connected or wait to be closed with that port at either end: "0100007F:9C41 01".
[[nodiscard]] std::vector<std::string> sockets_at(std::uint16_t port);

/// Names in /dev/shm of this user, those of other programs that come and go (`before`) apart.
[[nodiscard]] std::vector<std::string> shared_memory_since(const std::set<std::string>& before);
[[nodiscard]] std::set<std::string> shared_memory();

}  // namespace hocket::test
