#include "net/store_wire.h"

namespace hocket {
namespace {

std::string little_endian(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::uint32_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  }
  return value;
}

std::string with_length(const std::string& body) { return little_endian(body.size(), 4) + body; }

}  // namespace

std::string spell_request(const StoreRequest& request) {
  std::string body(1, request.sets ? 'S' : 'G');
  body += request.sets ? little_endian(request.key.size(), 2) : little_endian(request.wait_ms, 4);
  body += request.key;
  body += request.value;
  return with_length(body);
}

std::string spell_reply(char verdict, std::string_view text) {
  return with_length(std::string(1, verdict) + std::string(text));
}

std::optional<StoreRequest> read_request(std::string_view body) {
  if (body.size() > kStoreRequestMax) return std::nullopt;
  StoreRequest request;
  if (body.size() >= 3 && body[0] == 'S') {
    const std::size_t key = number_at(body, 1, 2);
    if (key == 0 || key > kStoreKeyMax || 3 + key > body.size()) return std::nullopt;
    request.sets = true;
    request.key = body.substr(3, key);
    request.value = body.substr(3 + key);
    return request.value.size() > kStoreValueMax ? std::nullopt : std::optional(request);
  }
  if (body.size() < 6 || body.size() > 5 + kStoreKeyMax || body[0] != 'G') return std::nullopt;
  request.wait_ms = number_at(body, 1, 4);
  request.key = body.substr(5);
  return request;
}

std::optional<std::uint32_t> read_length(std::string_view wire) {
  if (wire.size() < 4) return std::nullopt;
  return number_at(wire, 0, 4);
}

}  // namespace hocket
