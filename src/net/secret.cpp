#include "net/secret.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "base/assert.h"

namespace hocket {
namespace {

constexpr std::size_t kTextBytesMin = 16;

}  // namespace

Result<Nonce> fresh_nonce() {
  Nonce nonce{};
  if (RAND_bytes(reinterpret_cast<unsigned char*>(nonce.data()), static_cast<int>(nonce.size())) != 1)
    return fail(Code::kResourceExhausted, "the system gives no random bytes");
  return nonce;
}

Result<Secret> Secret::from_text(std::string_view text) {
  if (text.size() < kTextBytesMin)
    return fail(Code::kInvalidArgument, "the rendezvous secret has {} characters, {} are the least", text.size(),
                kTextBytesMin);
  return Secret(std::string(text));
}

Result<Secret> Secret::random() {
  HOCKET_TRY_ASSIGN(const Nonce nonce, fresh_nonce());
  std::string text;
  for (const std::byte b : nonce) text += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return Secret(std::move(text));
}

Proof Secret::prove(std::span<const std::byte> message) const {
  Proof proof{};
  unsigned int length = proof.size();
  const unsigned char* made = HMAC(EVP_sha256(), text_.data(), static_cast<int>(text_.size()),
                                   reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                                   reinterpret_cast<unsigned char*>(proof.data()), &length);
  HOCKET_ASSERT(made != nullptr && length == proof.size(), "HMAC-SHA256 failed");
  return proof;
}

bool Secret::proves(std::span<const std::byte> message, const Proof& proof) const {
  const Proof right = prove(message);
  return CRYPTO_memcmp(right.data(), proof.data(), proof.size()) == 0;
}

}  // namespace hocket
