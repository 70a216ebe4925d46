// Bytes as a stranger might send them to a listener, a connector and the store: nothing may crash, and nobody without
// the secret gets through.
#include <algorithm>
#include <cstdint>

#include "base/assert.h"
#include "net/handshake.h"
#include "net/store_wire.h"

namespace {

using namespace hocket;

void feed(Handshake& handshake, std::span<const std::byte> bytes) {
  while (!bytes.empty() && handshake.wanted() > 0) {
    const std::size_t part = std::min(bytes.size(), std::min<std::size_t>(handshake.wanted(), 1 + bytes.size() % 7));
    handshake.received(bytes.first(part));
    bytes = bytes.subspan(part);
  }
  HOCKET_ASSERT(handshake.state() != Handshake::State::kDone, "a stranger came through");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  static const Secret secret = *Secret::from_text("sixteen characters");
  const Nonce nonce{std::byte{7}};
  Handshake listener(secret, nonce);
  feed(listener, bytes);
  Handshake connector(secret, nonce, {Claim::Purpose::kLink, 1, 0});
  feed(connector, bytes);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto request = read_request(text)) {
    HOCKET_ASSERT(spell_request(*request).substr(4) == text, "a request has two spellings");
  }
  return 0;
}
