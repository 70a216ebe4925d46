// hocket.h: communicators, errors, operators.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "api/c_objects.h"
#include "api/unique_id.h"
#include "base/version.h"
#include "engine/half.h"

namespace hocket {
namespace {

struct ThreadErrors {
  std::mutex mutex;
  std::map<std::thread::id, std::string> words;
};

ThreadErrors& thread_errors() {
  static ThreadErrors table;
  return table;
}

Result<CommunicatorOptions> options_of(const hktConfig_t* config) {
  CommunicatorOptions options;
  if (config == nullptr) return options;
  if (!(config->timeoutSeconds >= 0 && config->timeoutSeconds <= 1e6))
    return fail(Code::kInvalidArgument, "a timeout of {} s: must be from 0 to 1000000", config->timeoutSeconds);
  options.timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(config->timeoutSeconds * 1e9));
  if (config->topology != nullptr) options.topology = config->topology;
  if (config->planFile != nullptr) options.plan_file = config->planFile;
  if (config->progress < 0 || config->progress > 2)
    return fail(Code::kInvalidArgument, "progress {}: known are 0, 1 and 2", config->progress);
  options.progress = static_cast<ProgressMode>(config->progress);
  if (config->progressPinned != 0) {
    if (config->progressCore < 0)
      return fail(Code::kInvalidArgument, "progressCore {} is no core", config->progressCore);
    options.progress_core = static_cast<std::uint32_t>(config->progressCore);
  }
  options.count_time = config->countTime != 0;
  return options;
}

Result<void> create(hktComm_t* comm, const CommunicatorOptions& options) {
  HOCKET_TRY_ASSIGN(Communicator made, Communicator::create(options));
  *comm = new hktComm(std::move(made));
  return {};
}

Result<void> init_rank(hktComm_t* comm, int ranks, const hktUniqueId& id, int rank, const hktConfig_t* config) {
  HOCKET_TRY(require(comm, "comm"));
  *comm = nullptr;
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return fail(Code::kInvalidArgument, "rank {} of {} ranks does not exist", rank, ranks);
  const std::string text(id.internal, ::strnlen(id.internal, sizeof(id.internal)));
  HOCKET_TRY_ASSIGN(const MeetingPoint point, parse_unique_id(text));
  HOCKET_TRY_ASSIGN(CommunicatorOptions options, options_of(config));
  options.rank = static_cast<std::uint32_t>(rank);
  options.size = static_cast<std::uint32_t>(ranks);
  options.root = point.root;
  options.secret = point.secret;
  if (rank == 0) {
    Descriptor listener = take_listener(text);
    if (!listener.open())
      return fail(Code::kUnsupported, "rank 0 must be the process that made the id, and use it once");
    if (ranks > 1) options.listener = listener.release();
  }
  return create(comm, options);
}

/// The scalar as both numbers that a Reduction may need.
template <class T>
Reduction scaled_by(const void* scalar) {
  T value;
  std::memcpy(&value, scalar, sizeof(T));
  Reduction made = Reduction::premultiplied_sum(1);
  made.scale = static_cast<double>(value);
  // The largest would be rounded to a number that the type does not have.
  if constexpr (std::is_integral_v<T>)
    made.scale = std::min(made.scale, std::nextafter(std::ldexp(1.0, std::numeric_limits<T>::digits), 0.0));
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    made.whole_scale = static_cast<std::int64_t>(value);
  } else if constexpr (std::is_integral_v<T>) {
    made.whole_scale = std::int64_t{value};
  }
  return made;
}

Result<Reduction> reduction_of(const void* scalar, hktDataType_t type) {
  switch (type) {
    case hktInt8:
      return scaled_by<std::int8_t>(scalar);
    case hktUint8:
      return scaled_by<std::uint8_t>(scalar);
    case hktInt32:
      return scaled_by<std::int32_t>(scalar);
    case hktUint32:
      return scaled_by<std::uint32_t>(scalar);
    case hktInt64:
      return scaled_by<std::int64_t>(scalar);
    case hktUint64:
      return scaled_by<std::uint64_t>(scalar);
    case hktFloat32:
      return scaled_by<float>(scalar);
    case hktFloat64:
      return scaled_by<double>(scalar);
    case hktFloat16:
    case hktBfloat16: {
      std::uint16_t bits = 0;
      std::memcpy(&bits, scalar, sizeof(bits));
      return Reduction::premultiplied_sum(type == hktBfloat16 ? f32_from_bf16(bits) : f32_from_f16(bits));
    }
    default:
      return fail(Code::kInvalidArgument, "data type {} has no sums", static_cast<int>(type));
  }
}

}  // namespace

hktResult_t result_of(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
    case Code::kMalformed:
      return hktInvalidArgument;
    case Code::kMismatch:
    case Code::kUnsupported:
      return hktInvalidUsage;
    case Code::kResourceExhausted:
    case Code::kIo:
      return hktSystemError;
    case Code::kTimeout:
      return hktTimeout;
    case Code::kPeerFailed:
      return hktRemoteError;
    case Code::kCancelled:
      return hktAborted;
    case Code::kDisproved:
    case Code::kInternal:
      return hktInternalError;
  }
  return hktInternalError;
}

hktResult_t keep_error(hktComm* comm, const Error& error) {
  if (comm != nullptr) {
    const std::lock_guard lock(comm->mutex);
    comm->last_error = error.text;
  } else {
    ThreadErrors& table = thread_errors();
    const std::lock_guard lock(table.mutex);
    table.words[std::this_thread::get_id()] = error.text;
  }
  return result_of(error.code);
}

const char* error_of_thread() {
  ThreadErrors& table = thread_errors();
  const std::lock_guard lock(table.mutex);
  const auto found = table.words.find(std::this_thread::get_id());
  return found == table.words.end() ? "" : found->second.c_str();
}

Result<void> require(const void* pointer, const char* name) {
  if (pointer == nullptr) return fail(Code::kInvalidArgument, "{} is NULL", name);
  return {};
}

}  // namespace hocket

using hocket::Code;
using hocket::fail;
using hocket::guarded;
using hocket::require;
using hocket::Result;

hktResult_t hktGetVersion(int* version) {
  return guarded(nullptr, [&]() -> Result<void> {
    HOCKET_TRY(require(version, "version"));
    const std::string_view text = hocket::build_stamp().version;
    int number = 0;
    int part = 0;
    for (const char c : text) {
      if (c == '.') {
        number = number * 100 + part;
        part = 0;
      } else {
        part = part * 10 + (c - '0');
      }
    }
    *version = number * 100 + part;
    return {};
  });
}

const char* hktGetErrorString(hktResult_t result) {
  switch (result) {
    case hktSuccess:
      return "success";
    case hktSystemError:
      return "the system lacks memory, descriptors or files";
    case hktInternalError:
      return "a fault of hocket";
    case hktInvalidArgument:
      return "a value that does not fit";
    case hktInvalidUsage:
      return "ranks disagree, or the call cannot be made here";
    case hktRemoteError:
      return "a rank was lost";
    case hktInProgress:
      return "in progress";
    case hktTimeout:
      return "not done in time";
    case hktAborted:
      return "aborted";
    default:
      return "unknown result";
  }
}

const char* hktGetLastError(hktComm_t comm) {
  if (comm == nullptr) return hocket::error_of_thread();
  const std::lock_guard lock(comm->mutex);
  return comm->last_error.c_str();
}

hktResult_t hktGetUniqueId(hktUniqueId* id) {
  return guarded(nullptr, [&]() -> Result<void> {
    HOCKET_TRY(require(id, "id"));
    HOCKET_TRY_ASSIGN(const std::string text, hocket::make_unique_id());
    std::memset(id->internal, 0, sizeof(id->internal));
    text.copy(id->internal, sizeof(id->internal) - 1);
    return {};
  });
}

hktResult_t hktCommInitRank(hktComm_t* comm, int nranks, hktUniqueId id, int rank) {
  return guarded(nullptr, [&] { return hocket::init_rank(comm, nranks, id, rank, nullptr); });
}

hktResult_t hktCommInitRankConfig(hktComm_t* comm, int nranks, hktUniqueId id, int rank, const hktConfig_t* config) {
  return guarded(nullptr, [&] { return hocket::init_rank(comm, nranks, id, rank, config); });
}

hktResult_t hktCommInitEnv(hktComm_t* comm, const hktConfig_t* config) {
  return guarded(nullptr, [&]() -> Result<void> {
    HOCKET_TRY(require(comm, "comm"));
    *comm = nullptr;
    HOCKET_TRY_ASSIGN(const hocket::CommunicatorOptions options, hocket::options_of(config));
    return hocket::create(comm, options);
  });
}

hktResult_t hktCommSplit(hktComm_t comm, int color, int key, hktComm_t* newcomm) {
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(comm, "comm"));
    HOCKET_TRY(require(newcomm, "newcomm"));
    *newcomm = nullptr;
    if (color < HKT_SPLIT_NOCOLOR) return fail(Code::kInvalidArgument, "colour {}: must be 0 or more", color);
    std::optional<std::uint32_t> wanted;
    if (color != HKT_SPLIT_NOCOLOR) wanted = static_cast<std::uint32_t>(color);
    HOCKET_TRY_ASSIGN(std::optional<hocket::Communicator> made, comm->communicator.split(wanted, key));
    if (made) *newcomm = new hktComm(std::move(*made));
    return {};
  });
}

hktResult_t hktCommDup(hktComm_t comm, hktComm_t* newcomm) { return hktCommSplit(comm, 0, 0, newcomm); }

hktResult_t hktCommShrink(hktComm_t comm, const int* exclude, int count, hktComm_t* newcomm) {
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(comm, "comm"));
    HOCKET_TRY(require(newcomm, "newcomm"));
    *newcomm = nullptr;
    if (count < 0 || (count > 0 && exclude == nullptr))
      return fail(Code::kInvalidArgument, "a list of {} ranks to exclude", count);
    std::vector<std::uint32_t> lost;
    lost.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      if (exclude[i] < 0) return fail(Code::kInvalidArgument, "rank {} does not exist", exclude[i]);
      lost.push_back(static_cast<std::uint32_t>(exclude[i]));
    }
    HOCKET_TRY_ASSIGN(hocket::Communicator made, comm->communicator.shrink(lost));
    *newcomm = new hktComm(std::move(made));
    return {};
  });
}

hktResult_t hktCommDestroy(hktComm_t comm) {
  return guarded(nullptr, [&]() -> Result<void> {
    delete comm;
    return {};
  });
}

hktResult_t hktCommAbort(hktComm_t comm) {
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(comm, "comm"));
    comm->communicator.abort("hktCommAbort");
    return {};
  });
}

hktResult_t hktCommGetAsyncError(hktComm_t comm, hktResult_t* result) {
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(comm, "comm"));
    HOCKET_TRY(require(result, "result"));
    const std::optional<hocket::Error> failure = comm->communicator.failure();
    *result = failure ? hocket::keep_error(comm, *failure) : hktSuccess;
    return {};
  });
}

hktResult_t hktCommCount(hktComm_t comm, int* count) {
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(comm, "comm"));
    HOCKET_TRY(require(count, "count"));
    *count = static_cast<int>(comm->communicator.size());
    return {};
  });
}

hktResult_t hktCommUserRank(hktComm_t comm, int* rank) {
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(comm, "comm"));
    HOCKET_TRY(require(rank, "rank"));
    *rank = static_cast<int>(comm->communicator.rank());
    return {};
  });
}

hktResult_t hktCommGetCounters(hktComm_t comm, hktCounters_t* counters) {
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(comm, "comm"));
    HOCKET_TRY(require(counters, "counters"));
    const hocket::ProgressCounters c = comm->communicator.counters();
    const auto seconds = [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); };
    *counters = {.calls = c.calls,
                 .bytesSent = static_cast<unsigned long long>(c.bytes_sent),
                 .bytesReceived = static_cast<unsigned long long>(c.bytes_received),
                 .bytesCopied = static_cast<unsigned long long>(c.bytes_copied),
                 .bytesReduced = static_cast<unsigned long long>(c.bytes_reduced),
                 .callerSeconds = seconds(c.caller_time),
                 .threadSeconds = seconds(c.thread_time)};
    return {};
  });
}

hktResult_t hktRedOpCreatePreMulSum(hktRedOp_t* op, void* scalar, hktDataType_t datatype,
                                    hktScalarResidence_t residence, hktComm_t comm) {
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(comm, "comm"));
    HOCKET_TRY(require(op, "op"));
    HOCKET_TRY(require(scalar, "scalar"));
    if (residence != hktScalarDevice && residence != hktScalarHostImmediate)
      return fail(Code::kInvalidArgument, "residence {} does not exist", static_cast<int>(residence));
    HOCKET_TRY_ASSIGN(const hocket::Reduction made, hocket::reduction_of(scalar, datatype));
    const std::lock_guard lock(comm->mutex);
    comm->scaled.push_back(made);
    *op = static_cast<hktRedOp_t>(hktNumOps + static_cast<int>(comm->scaled.size()) - 1);
    return {};
  });
}

hktResult_t hktRedOpDestroy(hktRedOp_t op, hktComm_t comm) {
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(comm, "comm"));
    const std::lock_guard lock(comm->mutex);
    const auto index = static_cast<std::size_t>(op) - hktNumOps;
    if (op < hktNumOps || index >= comm->scaled.size() || !comm->scaled[index].scaled)
      return fail(Code::kInvalidArgument, "operator {} was not made by hktRedOpCreatePreMulSum", static_cast<int>(op));
    comm->scaled[index].scaled = false;
    return {};
  });
}
