#include "wire.h"

#include <chrono>
#include <cstdlib>

#include "base/result.h"

namespace hocket::ucx {
namespace {

/// UCX's own shared memory leaves files behind when a process is killed; ranks of one host have ours.
constexpr const char* kTransports = "^posix,sysv";
constexpr std::chrono::milliseconds kCloseTime{200};

std::string words(ucs_status_t status) { return ucs_status_string(status); }

}  // namespace

Result<std::unique_ptr<Wire>> Wire::open(std::uint32_t rank, std::uint32_t ranks) {
  std::unique_ptr<Wire> made(new Wire);
  made->peers_.resize(ranks);
  HOCKET_TRY(made->start(rank));
  return made;
}

Result<void> Wire::start(std::uint32_t rank) {
  ucp_config_t* config = nullptr;
  ucs_status_t status = ucp_config_read(nullptr, nullptr, &config);
  if (status != UCS_OK) return fail(Code::kUnsupported, "rank {}: UCX has no settings: {}", rank, words(status));
  const bool chosen = std::getenv("UCX_TLS") != nullptr;  // NOLINT(concurrency-mt-unsafe): nobody writes it
  if (!chosen) ucp_config_modify(config, "TLS", kTransports);
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES;
  params.features = UCP_FEATURE_STREAM | UCP_FEATURE_WAKEUP;
  status = ucp_init(&params, config, &context_);
  ucp_config_release(config);
  if (status != UCS_OK) return fail(Code::kUnsupported, "rank {}: no UCX context: {}", rank, words(status));
  ucp_worker_params_t how{};
  how.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  how.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  status = ucp_worker_create(context_, &how, &worker_);
  if (status != UCS_OK) return fail(Code::kUnsupported, "rank {}: no UCX worker: {}", rank, words(status));
  status = ucp_worker_get_efd(worker_, &descriptor_);
  if (status != UCS_OK)
    return fail(Code::kUnsupported, "rank {}: this UCX cannot be slept on: {}", rank, words(status));
  return {};
}

Wire::~Wire() {
  for (Peer& peer : peers_) {
    if (peer.chunk != nullptr) ucp_stream_data_release(peer.endpoint, peer.chunk);
    peer.chunk = nullptr;
    if (peer.endpoint != nullptr) close(peer, peer.broken.empty() ? 0 : UCP_EP_CLOSE_FLAG_FORCE);
  }
  if (worker_ != nullptr) ucp_worker_destroy(worker_);
  if (context_ != nullptr) ucp_cleanup(context_);
}

void Wire::close(Peer& peer, unsigned flags) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = flags;
  void* request = ucp_ep_close_nbx(std::exchange(peer.endpoint, nullptr), &param);
  if (!UCS_PTR_IS_PTR(request)) return;
  const auto until = std::chrono::steady_clock::now() + kCloseTime;
  while (ucp_request_check_status(request) == UCS_INPROGRESS && std::chrono::steady_clock::now() < until) progress();
  ucp_request_free(request);
}

Result<std::string> Wire::address() const {
  ucp_address_t* address = nullptr;
  std::size_t length = 0;
  const ucs_status_t status = ucp_worker_get_address(worker_, &address, &length);
  if (status != UCS_OK) return fail(Code::kUnsupported, "UCX has no address: {}", words(status));
  std::string bytes(reinterpret_cast<const char*>(address), length);
  ucp_worker_release_address(worker_, address);
  return bytes;
}

Result<void> Wire::connect(std::uint32_t peer, const std::string& address) {
  Peer& p = peers_[peer];
  ucp_ep_params_t params{};
  params.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {.cb = on_error, .arg = &p};
  const ucs_status_t status = ucp_ep_create(worker_, &params, &p.endpoint);
  if (status != UCS_OK) return fail(Code::kUnsupported, "UCX has no way to rank {}: {}", peer, words(status));
  return {};
}

void Wire::on_error(void* peer, ucp_ep_h /*endpoint*/, ucs_status_t status) {
  static_cast<Peer*>(peer)->broken = words(status);
}

std::size_t Wire::send(std::uint32_t peer, std::span<const std::span<const std::byte>> parts) {
  Peer& p = peers_[peer];
  p.send_bytes = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    p.parts[i] = {const_cast<std::byte*>(parts[i].data()), parts[i].size()};
    p.send_bytes += parts[i].size();
  }
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
  param.datatype = ucp_dt_make_iov();
  void* request = ucp_stream_send_nbx(p.endpoint, p.parts.data(), parts.size(), &param);
  if (request == nullptr) return p.send_bytes;
  if (UCS_PTR_IS_ERR(request)) {
    p.broken = words(UCS_PTR_STATUS(request));
    return 0;
  }
  p.send = request;
  return 0;
}

std::size_t Wire::sent_bytes(std::uint32_t peer) {
  Peer& p = peers_[peer];
  if (p.send == nullptr) return 0;
  const ucs_status_t status = ucp_request_check_status(p.send);
  if (status == UCS_INPROGRESS) return 0;
  ucp_request_free(std::exchange(p.send, nullptr));
  if (status == UCS_OK) return p.send_bytes;
  if (p.broken.empty()) p.broken = words(status);
  return 0;
}

std::span<const std::byte> Wire::arrived(std::uint32_t peer) {
  Peer& p = peers_[peer];
  if (p.chunk == nullptr && p.endpoint != nullptr) {
    void* got = ucp_stream_recv_data_nb(p.endpoint, &p.chunk_bytes);
    if (UCS_PTR_IS_ERR(got)) {
      if (p.broken.empty()) p.broken = words(UCS_PTR_STATUS(got));
      return {};
    }
    p.chunk = static_cast<std::byte*>(got);
    p.consumed = 0;
  }
  if (p.chunk == nullptr) return {};
  return {p.chunk + p.consumed, p.chunk_bytes - p.consumed};
}

void Wire::consume(std::uint32_t peer, std::size_t bytes) {
  Peer& p = peers_[peer];
  p.consumed += bytes;
  if (p.consumed < p.chunk_bytes) return;
  ucp_stream_data_release(p.endpoint, std::exchange(p.chunk, nullptr));
}

void Wire::cut_off(std::uint32_t peer) {
  Peer& p = peers_[peer];
  if (p.endpoint == nullptr) return;
  if (p.chunk != nullptr) ucp_stream_data_release(p.endpoint, std::exchange(p.chunk, nullptr));
  close(p, UCP_EP_CLOSE_FLAG_FORCE);
  if (p.send != nullptr) ucp_request_free(std::exchange(p.send, nullptr));
  if (p.broken.empty()) p.broken = "cut off";
}

}  // namespace hocket::ucx
