#include "api/unique_id.h"

#include <map>
#include <mutex>

#include "api/settings.h"
#include "net/interfaces.h"
#include "net/secret.h"
#include "net/socket.h"

namespace hocket {
namespace {

constexpr std::string_view kBegin = "hkt1 ";
constexpr std::size_t kIdTextMax = 127;

struct Listeners {
  std::mutex mutex;
  std::map<std::string, Descriptor> waiting;  // by id
};

Listeners& listeners() {
  static Listeners table;
  return table;
}

/// Loopback, unless an interface was named.
Result<Address> where_to_listen(const InterfaceFilter& filter) {
  if (filter.empty()) return Address::loopback();
  HOCKET_TRY_ASSIGN(const std::vector<Interface> all, list_interfaces());
  HOCKET_TRY_ASSIGN(const Interface chosen, choose_interface(all, {filter, AF_UNSPEC, false}));
  return chosen.address;
}

}  // namespace

Result<std::string> make_unique_id() {
  const SettingWords words(environment, {});
  HOCKET_TRY_ASSIGN(const InterfaceFilter filter, interfaces_of(words));
  HOCKET_TRY_ASSIGN(const PortRange ports, ports_of(words));
  HOCKET_TRY_ASSIGN(const Address where, where_to_listen(filter));
  HOCKET_TRY_ASSIGN(Descriptor listener, listen_in(ports, where, 1));
  HOCKET_TRY_ASSIGN(const Address address, local_address(listener));
  HOCKET_TRY_ASSIGN(const Secret secret, Secret::random());
  const std::string text = fmt::format("{}{} {}", kBegin, address.text(), secret.text());
  if (text.size() > kIdTextMax) return fail(Code::kInternal, "an id of {} characters", text.size());
  Listeners& table = listeners();
  const std::lock_guard lock(table.mutex);
  table.waiting.emplace(text, std::move(listener));
  return text;
}

Result<MeetingPoint> parse_unique_id(const std::string& text) {
  const std::size_t space = text.find(' ', kBegin.size());
  if (!text.starts_with(kBegin) || space == std::string::npos)
    return fail(Code::kInvalidArgument, "this is no id of hktGetUniqueId");
  return MeetingPoint{text.substr(kBegin.size(), space - kBegin.size()), text.substr(space + 1)};
}

Descriptor take_listener(const std::string& text) {
  Listeners& table = listeners();
  const std::lock_guard lock(table.mutex);
  const auto found = table.waiting.find(text);
  if (found == table.waiting.end()) return {};
  Descriptor listener = std::move(found->second);
  table.waiting.erase(found);
  return listener;
}

}  // namespace hocket
