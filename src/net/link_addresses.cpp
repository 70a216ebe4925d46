#include "net/link_addresses.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <sstream>

namespace hocket {
namespace {

std::optional<std::uint32_t> number_in(const std::string& word) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

/// A number as hosts have it; names are not looked up.
Result<Address> address_in(const std::string& word) {
  HOCKET_TRY_ASSIGN(const Endpoint endpoint, parse_endpoint(word, 1));
  std::array<std::byte, sizeof(in6_addr)> bytes{};
  const std::string number = endpoint.host.substr(0, endpoint.host.find('%'));
  const bool is_number = ::inet_pton(AF_INET, number.c_str(), bytes.data()) == 1 ||
                         ::inet_pton(AF_INET6, number.c_str(), bytes.data()) == 1;
  if (!is_number) return fail(Code::kMalformed, "'{}' is not the number of a host", word);
  HOCKET_TRY_ASSIGN(const Address address, resolve(endpoint));
  return address.with_port(0);
}

}  // namespace

Result<LinkAddresses> LinkAddresses::parse(const std::string& text, const std::string& name, std::uint32_t ranks) {
  LinkAddresses result;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string first, second, third, fourth, more;
    if (!(words >> first)) continue;
    words >> second >> third >> fourth;
    if (fourth.empty() || words >> more)
      return fail(Code::kMalformed, "{}:{}: '{}' is not 'rank peer local remote'", name, number, line);
    const auto rank = number_in(first);
    const auto peer = number_in(second);
    if (!rank || !peer || *rank >= ranks || *peer >= ranks || *rank == *peer)
      return fail(Code::kMalformed, "{}:{}: '{} {}' are not two of {} ranks", name, number, first, second, ranks);
    Ends ends;
    for (const auto& [word, address] : {std::pair(&third, &ends.local), std::pair(&fourth, &ends.remote)}) {
      Result<Address> read = address_in(*word);
      if (!read) return fail(Code::kMalformed, "{}:{}: {}", name, number, read.error().text);
      *address = *read;
    }
    if (ends.local.family() != ends.remote.family())
      return fail(Code::kMalformed, "{}:{}: {} and {} are of two families", name, number, third, fourth);
    if (!result.ends_.try_emplace({*rank, *peer}, ends).second)
      return fail(Code::kMalformed, "{}:{}: rank {} and peer {} are listed a second time", name, number, *rank, *peer);
  }
  HOCKET_TRY(result.check(name));
  return result;
}

Result<void> LinkAddresses::check(const std::string& name) const {
  for (const auto& [pair, ends] : ends_) {
    const auto other = ends_.find({pair.second, pair.first});
    if (other == ends_.end())
      return fail(Code::kMismatch, "{}: rank {} lists peer {}, but not the other way round", name, pair.first,
                  pair.second);
    if (other->second.local.host() != ends.remote.host())
      return fail(Code::kMismatch, "{}: rank {} expects peer {} at {}, which says {}", name, pair.first, pair.second,
                  ends.remote.host(), other->second.local.host());
  }
  return {};
}

std::optional<LinkAddresses::Ends> LinkAddresses::between(std::uint32_t rank, std::uint32_t peer) const {
  const auto found = ends_.find({rank, peer});
  if (found == ends_.end()) return std::nullopt;
  return found->second;
}

}  // namespace hocket
