#include "net/link_addresses.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <sstream>

#include "base/hash.h"

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

/// What a line says of a cable.
struct Written {
  std::string local, remote, rate;
};

Result<LinkAddresses::Ends> ends_in(const Written& written) {
  LinkAddresses::Ends ends;
  HOCKET_TRY_ASSIGN(ends.local, address_in(written.local));
  HOCKET_TRY_ASSIGN(ends.remote, address_in(written.remote));
  if (ends.local.family() != ends.remote.family())
    return fail(Code::kMalformed, "{} and {} are of two families", written.local, written.remote);
  if (written.rate.empty()) return ends;
  HOCKET_TRY_ASSIGN(ends.rate, parse_bandwidth(written.rate));
  return ends;
}

}  // namespace

Result<LinkAddresses> LinkAddresses::parse(const std::string& text, const std::string& name, std::uint32_t ranks) {
  LinkAddresses result;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string first, second, more;
    if (!(words >> first)) continue;
    Written written;
    words >> second >> written.local >> written.remote >> written.rate;
    if (written.remote.empty() || words >> more)
      return fail(Code::kMalformed, "{}:{}: '{}' is not 'rank peer local remote [rate]'", name, number, line);
    const auto rank = number_in(first);
    const auto peer = number_in(second);
    if (!rank || !peer || *rank >= ranks || *peer >= ranks || *rank == *peer)
      return fail(Code::kMalformed, "{}:{}: '{} {}' are not two of {} ranks", name, number, first, second, ranks);
    Result<Ends> ends = ends_in(written);
    if (!ends) return fail(Code::kMalformed, "{}:{}: {}", name, number, ends.error().text);
    Joint& joint = result.joints_[{*rank, *peer}];
    const auto known = std::find_if(joint.connections.begin(), joint.connections.end(), [&ends](const Ends& other) {
      return other.local.host() == ends->local.host() && other.remote.host() == ends->remote.host();
    });
    joint.lanes.push_back(static_cast<std::uint32_t>(known - joint.connections.begin()));
    if (known == joint.connections.end())
      joint.connections.push_back(*ends);
    else if (known->rate.value != ends->rate.value)
      return fail(Code::kMismatch, "{}:{}: the cable from {} to {} has {}, in an earlier line {}", name, number,
                  written.local, written.remote, format_bandwidth(ends->rate), format_bandwidth(known->rate));
  }
  HOCKET_TRY(result.check(name));
  return result;
}

Result<void> LinkAddresses::check(const std::string& name) const {
  for (const auto& [pair, joint] : joints_) {
    const auto found = joints_.find({pair.second, pair.first});
    if (found == joints_.end())
      return fail(Code::kMismatch, "{}: rank {} lists peer {}, but not the other way round", name, pair.first,
                  pair.second);
    const Joint& other = found->second;
    if (other.lanes.size() != joint.lanes.size())
      return fail(Code::kMismatch, "{}: rank {} lists peer {} {} times, the other way round it is {}", name, pair.first,
                  pair.second, joint.lanes.size(), other.lanes.size());
    for (std::size_t lane = 0; lane < joint.lanes.size(); ++lane) {
      const Ends& here = joint.connections[joint.lanes[lane]];
      const Ends& there = other.connections[other.lanes[lane]];
      if (there.local.host() == here.remote.host() && there.remote.host() == here.local.host()) continue;
      return fail(Code::kMismatch, "{}: rank {} joins peer {} by {} {}, which says {} {}", name, pair.first,
                  pair.second, here.local.host(), here.remote.host(), there.local.host(), there.remote.host());
    }
  }
  return {};
}

LinkAddresses::Mark LinkAddresses::mark() const {
  Mark mark;
  Hasher hasher;
  for (const auto& [pair, joint] : joints_) {
    for (const std::uint32_t lane : joint.lanes) {
      const Ends& ends = joint.connections[lane];
      hasher.add(pair.first).add(pair.second).add(ends.local.host()).add(ends.remote.host());
      hasher.add(std::bit_cast<std::uint64_t>(ends.rate.value));
      ++mark.lines;
    }
  }
  if (mark.lines > 0) mark.hash = hasher.finish().low;
  return mark;
}

std::string LinkAddresses::Mark::text() const {
  if (lines == 0) return "no cables";
  return fmt::format("{} lines of cables ({:016x})", lines, hash);
}

const LinkAddresses::Joint* LinkAddresses::between(std::uint32_t rank, std::uint32_t peer) const {
  const auto found = joints_.find({rank, peer});
  return found == joints_.end() ? nullptr : &found->second;
}

}  // namespace hocket
