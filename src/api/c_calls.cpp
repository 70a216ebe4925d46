// hocket.h: operations, groups, requests, plans.
#include <array>
#include <limits>

#include "api/c_objects.h"

namespace hocket {
namespace {

/// What a thread calls between hktGroupStart and hktGroupEnd.
struct Group {
  int depth = 0;
  std::optional<Error> refused;  // the first call that was
  std::vector<std::pair<CommReference, Call>> calls;
  std::vector<std::unique_ptr<std::vector<std::int64_t>>> numbers;  // that calls point to
};

struct Groups {
  std::mutex mutex;
  std::map<std::thread::id, Group> open;
};

Groups& groups() {
  static Groups table;
  return table;
}

/// This thread's, or null; only this thread touches it.
Group* group_of_thread() {
  Groups& table = groups();
  const std::lock_guard lock(table.mutex);
  const auto found = table.open.find(std::this_thread::get_id());
  return found == table.open.end() ? nullptr : &found->second;
}

Result<DataType> type_of(hktDataType_t type) {
  constexpr std::array kTypes{DataType::kI8,  DataType::kU8,   DataType::kI32, DataType::kU32,
                              DataType::kI64, DataType::kU64,  DataType::kF16, DataType::kF32,
                              DataType::kF64, DataType::kBf16, DataType::kU8,  DataType::kU8};
  const auto index = static_cast<std::size_t>(type);
  if (index >= kTypes.size()) return fail(Code::kInvalidArgument, "data type {} does not exist", index);
  return kTypes[index];
}

Result<Reduction> reduction_of(hktComm& comm, hktRedOp_t op) {
  constexpr std::array kOps{ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kAvg};
  const auto index = static_cast<std::size_t>(op);
  if (index < kOps.size()) return Reduction(kOps[index]);
  const std::lock_guard lock(comm.mutex);
  if (index - kOps.size() >= comm.scaled.size() || !comm.scaled[index - kOps.size()].scaled)
    return fail(Code::kInvalidArgument, "operator {} does not exist", index);
  return comm.scaled[index - kOps.size()];
}

Result<std::int64_t> count_of(std::size_t count) {
  if (count > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()))
    return fail(Code::kInvalidArgument, "{} elements exceed 2^63", count);
  return static_cast<std::int64_t>(count);
}

/// Numbers of a call's blocks, kept by `kept`.
Result<std::span<const std::int64_t>> numbers_of(const std::size_t* from, std::uint32_t ranks,
                                                 std::vector<std::unique_ptr<std::vector<std::int64_t>>>& kept) {
  if (from == nullptr) return fail(Code::kInvalidArgument, "counts or displacements are NULL");
  auto numbers = std::make_unique<std::vector<std::int64_t>>();
  numbers->reserve(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    HOCKET_TRY_ASSIGN(const std::int64_t number, count_of(from[r]));
    numbers->push_back(number);
  }
  kept.push_back(std::move(numbers));
  return std::span<const std::int64_t>(*kept.back());
}

using Numbers = std::vector<std::unique_ptr<std::vector<std::int64_t>>>;

bool combines(hktOperation_t operation) {
  return operation == hktOpAllReduce || operation == hktOpReduceScatter || operation == hktOpReduce;
}

Result<Call> call_of(const hktCall_t& from, hktComm& comm, Numbers& kept) {
  Call call;
  if (from.operation < hktOpAllReduce || from.operation > hktOpBarrier)
    return fail(Code::kInvalidArgument, "operation {} does not exist", static_cast<int>(from.operation));
  call.operation = static_cast<Operation>(from.operation);
  call.input = from.sendbuff;
  call.output = from.recvbuff;
  HOCKET_TRY_ASSIGN(call.count, count_of(from.count));
  HOCKET_TRY_ASSIGN(call.type, type_of(from.datatype));
  if (combines(from.operation)) {
    if (from.datatype >= hktFloat8e4m3)
      return fail(Code::kUnsupported, "fp8 values are moved, not combined: convert them first");
    HOCKET_TRY_ASSIGN(call.reduction, reduction_of(comm, from.op));
  }
  if (from.root < 0) return fail(Code::kInvalidArgument, "rank {} does not exist", from.root);
  call.root = static_cast<std::uint32_t>(from.root);
  const std::uint32_t ranks = comm.communicator.size();
  if (from.operation == hktOpAllToAllV || from.operation == hktOpAllGatherV) {
    HOCKET_TRY_ASSIGN(call.receive.counts, numbers_of(from.recvcounts, ranks, kept));
    HOCKET_TRY_ASSIGN(call.receive.offsets, numbers_of(from.rdispls, ranks, kept));
  }
  if (from.operation == hktOpAllToAllV) {
    HOCKET_TRY_ASSIGN(call.send.counts, numbers_of(from.sendcounts, ranks, kept));
    HOCKET_TRY_ASSIGN(call.send.offsets, numbers_of(from.sdispls, ranks, kept));
  }
  if (from.description != nullptr) call.description = from.description;
  if (!(from.timeoutSeconds >= 0 && from.timeoutSeconds <= 1e6))
    return fail(Code::kInvalidArgument, "a timeout of {} s: must be from 0 to 1000000", from.timeoutSeconds);
  call.timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(from.timeoutSeconds * 1e9));
  return call;
}

/// A call of a group is refused where it stands, and once more at the group's end.
Result<void> noted(Result<void> called) {
  Group* const group = called ? nullptr : group_of_thread();
  if (group != nullptr && !group->refused) group->refused = called.error();
  return called;
}

Result<void> perform(const hktCall_t& from, hktComm_t comm, hktRequest_t* request) {
  HOCKET_TRY(require(comm, "comm"));
  if (request != nullptr) *request = nullptr;
  if (Group* const group = group_of_thread()) {
    if (request != nullptr) return fail(Code::kInvalidArgument, "a call inside a group has no request of its own");
    HOCKET_TRY_ASSIGN(const Call call, call_of(from, *comm, group->numbers));
    group->calls.emplace_back(CommReference(comm), call);
    return {};
  }
  Numbers kept;
  HOCKET_TRY_ASSIGN(const Call call, call_of(from, *comm, kept));
  if (request == nullptr) return comm->communicator.run(call);
  HOCKET_TRY_ASSIGN(Work work, comm->communicator.start(call));
  *request = new hktRequest{std::move(work), CommReference(comm)};
  return {};
}

/// The same of a call for which there was no memory: the others of its group must not be made without it.
template <class Body>
Result<void> noted_call(Body&& body) {
  try {
    return noted(body());
  } catch (const std::bad_alloc&) {
    Group* const group = group_of_thread();
    if (group != nullptr && !group->refused) group->refused = Error{Code::kResourceExhausted, "no memory"};
    throw;
  }
}

hktResult_t perform_guarded(const hktCall_t& call, hktComm_t comm, hktRequest_t* request) {
  return guarded(comm, [&] { return noted_call([&] { return perform(call, comm, request); }); });
}

/// Every communicator's calls together, and all communicators at once.
Result<void> end_group(Group& group) {
  if (group.refused)
    return fail(group.refused->code, "no call of this group is made, for one was refused: {}", group.refused->text);
  std::vector<std::pair<hktComm*, std::vector<Call>>> by_comm;
  for (const auto& [reference, call] : group.calls) {
    hktComm* const comm = reference.get();
    if (comm == nullptr)
      return fail(Code::kInvalidArgument,
                  "a communicator was destroyed that calls of this group wait for: none is made");
    auto found = by_comm.begin();
    while (found != by_comm.end() && found->first != comm) ++found;
    if (found == by_comm.end()) found = by_comm.insert(found, {comm, {}});
    found->second.push_back(call);
  }
  std::optional<Error> first;
  std::vector<std::pair<hktComm*, Work>> works;
  for (const auto& [comm, calls] : by_comm) {
    Result<Work> work = comm->communicator.start_group(calls);
    if (work) {
      works.emplace_back(comm, std::move(*work));
    } else {
      keep_error(comm, work.error());
      if (!first) first = std::move(work.error());
    }
  }
  for (auto& [comm, work] : works) {
    if (Result<void> result = work.wait(); !result) {
      keep_error(comm, result.error());
      if (!first) first = std::move(result.error());
    }
  }
  if (first) return tl::unexpected<Error>(std::move(*first));
  return {};
}

}  // namespace
}  // namespace hocket

using hocket::Code;
using hocket::fail;
using hocket::guarded;
using hocket::perform_guarded;
using hocket::require;
using hocket::Result;

hktResult_t hktAllReduce(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, hktRedOp_t op,
                         hktComm_t comm, hktRequest_t* request) {
  return perform_guarded({.operation = hktOpAllReduce,
                          .sendbuff = sendbuff,
                          .recvbuff = recvbuff,
                          .count = count,
                          .datatype = datatype,
                          .op = op},
                         comm, request);
}

hktResult_t hktReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, hktDataType_t datatype,
                             hktRedOp_t op, hktComm_t comm, hktRequest_t* request) {
  return perform_guarded({.operation = hktOpReduceScatter,
                          .sendbuff = sendbuff,
                          .recvbuff = recvbuff,
                          .count = recvcount,
                          .datatype = datatype,
                          .op = op},
                         comm, request);
}

hktResult_t hktAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, hktDataType_t datatype, hktComm_t comm,
                         hktRequest_t* request) {
  return perform_guarded({.operation = hktOpAllGather,
                          .sendbuff = sendbuff,
                          .recvbuff = recvbuff,
                          .count = sendcount,
                          .datatype = datatype},
                         comm, request);
}

hktResult_t hktBroadcast(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, int root,
                         hktComm_t comm, hktRequest_t* request) {
  return perform_guarded({.operation = hktOpBroadcast,
                          .sendbuff = sendbuff,
                          .recvbuff = recvbuff,
                          .count = count,
                          .datatype = datatype,
                          .root = root},
                         comm, request);
}

hktResult_t hktReduce(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, hktRedOp_t op,
                      int root, hktComm_t comm, hktRequest_t* request) {
  return perform_guarded({.operation = hktOpReduce,
                          .sendbuff = sendbuff,
                          .recvbuff = recvbuff,
                          .count = count,
                          .datatype = datatype,
                          .op = op,
                          .root = root},
                         comm, request);
}

hktResult_t hktAlltoAll(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, hktComm_t comm,
                        hktRequest_t* request) {
  return perform_guarded(
      {.operation = hktOpAllToAll, .sendbuff = sendbuff, .recvbuff = recvbuff, .count = count, .datatype = datatype},
      comm, request);
}

hktResult_t hktGather(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, int root,
                      hktComm_t comm, hktRequest_t* request) {
  return perform_guarded({.operation = hktOpGather,
                          .sendbuff = sendbuff,
                          .recvbuff = recvbuff,
                          .count = count,
                          .datatype = datatype,
                          .root = root},
                         comm, request);
}

hktResult_t hktScatter(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, int root,
                       hktComm_t comm, hktRequest_t* request) {
  return perform_guarded({.operation = hktOpScatter,
                          .sendbuff = sendbuff,
                          .recvbuff = recvbuff,
                          .count = count,
                          .datatype = datatype,
                          .root = root},
                         comm, request);
}

hktResult_t hktSend(const void* sendbuff, size_t count, hktDataType_t datatype, int peer, hktComm_t comm,
                    hktRequest_t* request) {
  return perform_guarded(
      {.operation = hktOpSend, .sendbuff = sendbuff, .count = count, .datatype = datatype, .root = peer}, comm,
      request);
}

hktResult_t hktRecv(void* recvbuff, size_t count, hktDataType_t datatype, int peer, hktComm_t comm,
                    hktRequest_t* request) {
  return perform_guarded(
      {.operation = hktOpRecv, .recvbuff = recvbuff, .count = count, .datatype = datatype, .root = peer}, comm,
      request);
}

hktResult_t hktBarrier(hktComm_t comm, hktRequest_t* request) {
  return perform_guarded({.operation = hktOpBarrier}, comm, request);
}

hktResult_t hktCall(const hktCall_t* call, hktComm_t comm, hktRequest_t* request) {
  return guarded(comm, [&] {
    return hocket::noted_call([&]() -> Result<void> {
      HOCKET_TRY(require(call, "call"));
      return hocket::perform(*call, comm, request);
    });
  });
}

hktResult_t hktGroupStart(void) {
  return guarded(nullptr, []() -> Result<void> {
    hocket::Groups& table = hocket::groups();
    const std::lock_guard lock(table.mutex);
    ++table.open[std::this_thread::get_id()].depth;
    return {};
  });
}

hktResult_t hktGroupEnd(void) {
  return guarded(nullptr, []() -> Result<void> {
    hocket::Groups& table = hocket::groups();
    hocket::Group group;
    {
      const std::lock_guard lock(table.mutex);
      const auto found = table.open.find(std::this_thread::get_id());
      if (found == table.open.end()) return fail(Code::kUnsupported, "hktGroupEnd without hktGroupStart");
      if (--found->second.depth > 0) return {};
      group = std::move(found->second);
      table.open.erase(found);
    }
    return hocket::end_group(group);
  });
}

hktResult_t hktWait(hktRequest_t request) {
  hktComm* const comm = request == nullptr ? nullptr : request->comm.get();
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(request, "request"));
    const std::unique_ptr<hktRequest> owned(request);
    return owned->work.wait();
  });
}

hktResult_t hktWaitFor(hktRequest_t request, double seconds) {
  hktComm* const comm = request == nullptr ? nullptr : request->comm.get();
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(request, "request"));
    if (!(seconds >= 0 && seconds <= 1e6))
      return fail(Code::kInvalidArgument, "{} s: must be from 0 to 1000000", seconds);
    const Result<bool> over =
        request->work.wait_for(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
    if (over && !*over) return fail(Code::kTimeout, "not over within {} s; it goes on", seconds);
    delete request;
    if (!over) return tl::unexpected<hocket::Error>(over.error());
    return {};
  });
}

hktResult_t hktTest(hktRequest_t request, int* done) {
  hktComm* const comm = request == nullptr ? nullptr : request->comm.get();
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(request, "request"));
    HOCKET_TRY(require(done, "done"));
    const Result<bool> over = request->work.test();
    *done = !over || *over ? 1 : 0;
    if (*done != 0) delete request;
    if (!over) return tl::unexpected<hocket::Error>(over.error());
    return {};
  });
}

hktResult_t hktPlanCreate(hktPlan_t* plan, const hktCall_t* call, hktComm_t comm) {
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(plan, "plan"));
    *plan = nullptr;
    HOCKET_TRY(require(call, "call"));
    HOCKET_TRY(require(comm, "comm"));
    hocket::Numbers kept;
    HOCKET_TRY_ASSIGN(const hocket::Call wanted, hocket::call_of(*call, *comm, kept));
    HOCKET_TRY_ASSIGN(hocket::PersistentCall made, comm->communicator.prepare(wanted));
    *plan = new hktPlan{std::move(made), hocket::CommReference(comm)};
    return {};
  });
}

hktResult_t hktPlanStart(hktPlan_t plan, const void* sendbuff, void* recvbuff, hktRequest_t* request) {
  hktComm* const comm = plan == nullptr ? nullptr : plan->comm.get();
  return guarded(comm, [&]() -> Result<void> {
    HOCKET_TRY(require(plan, "plan"));
    if (request == nullptr) return plan->call.run(sendbuff, recvbuff);
    *request = nullptr;
    HOCKET_TRY_ASSIGN(hocket::Work work, plan->call.start(sendbuff, recvbuff));
    *request = new hktRequest{std::move(work), plan->comm};
    return {};
  });
}

hktResult_t hktPlanDestroy(hktPlan_t plan) {
  return guarded(nullptr, [&]() -> Result<void> {
    delete plan;
    return {};
  });
}
