/*
 * hocket's collectives from C, shaped like NCCL's: a port is a change of prefix. There are no streams: the last
 * argument of an operation is a request; NULL means that the call returns when its result is there. Ownership: a
 * communicator belongs to who made it; buffers stay the caller's until the operation is over. Threading: as
 * hocket::Communicator; hktCommAbort and hktCommGetAsyncError from any thread. Groups belong to a thread. Refuses: what
 * it does not know, with hktInvalidArgument and words in hktGetLastError; no exception leaves it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hktComm* hktComm_t;
typedef struct hktRequest* hktRequest_t;
typedef struct hktPlan* hktPlan_t;

#define HKT_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[HKT_UNIQUE_ID_BYTES];
} hktUniqueId;

typedef enum {
  hktSuccess = 0,
  hktSystemError = 2,     /* memory, descriptors, files */
  hktInternalError = 3,   /* a fault of hocket */
  hktInvalidArgument = 4, /* a value that does not fit */
  hktInvalidUsage = 5,    /* ranks that disagree, or a call that cannot be made here */
  hktRemoteError = 6,     /* a rank was lost */
  hktInProgress = 7,
  hktTimeout = 8,
  hktAborted = 9,
  hktNumResults = 10
} hktResult_t;

typedef enum {
  hktInt8 = 0,
  hktChar = 0,
  hktUint8 = 1,
  hktInt32 = 2,
  hktInt = 2,
  hktUint32 = 3,
  hktInt64 = 4,
  hktUint64 = 5,
  hktFloat16 = 6,
  hktHalf = 6,
  hktFloat32 = 7,
  hktFloat = 7,
  hktFloat64 = 8,
  hktDouble = 8,
  hktBfloat16 = 9,
  hktFloat8e4m3 = 10, /* fp8 values are moved, not combined */
  hktFloat8e5m2 = 11,
  hktNumTypes = 12
} hktDataType_t;

/* hktAvg: the sum divided by the number of ranks; integers truncate toward zero. */
typedef enum {
  hktSum = 0,
  hktProd = 1,
  hktMax = 2,
  hktMin = 3,
  hktAvg = 4,
  hktNumOps = 5, /* from here on: those of hktRedOpCreatePreMulSum */
  hktMaxRedOp = 0x7fffffff
} hktRedOp_t;

typedef enum { hktScalarDevice = 0, hktScalarHostImmediate = 1 } hktScalarResidence_t; /* the same on a CPU */

typedef enum {
  hktOpAllReduce,
  hktOpReduceScatter,
  hktOpAllGather,
  hktOpBroadcast,
  hktOpReduce,
  hktOpAllToAll,
  hktOpGather,
  hktOpScatter,
  hktOpAllGatherV,
  hktOpAllToAllV,
  hktOpSend,
  hktOpRecv,
  hktOpBarrier
} hktOperation_t;

/* Zeroes mean the default. */
typedef struct {
  double timeoutSeconds; /* of every call */
  const char* topology;  /* a file, or words such as torus:4x4 */
  const char* planFile;  /* a schedule for the collective that it holds */
  int progress;          /* 0: a thread that spins, then sleeps; 1: one that spins; 2: hktTest and hktWait */
  int progressPinned;    /* 1: the communicator's threads run on the core `progressCore` and nowhere else */
  int progressCore;
  int countTime; /* 1: hktCommGetCounters fills the times */
} hktConfig_t;

/* What the calls that are over have cost this rank; times are processor time. */
typedef struct {
  unsigned long long calls;
  unsigned long long bytesSent;
  unsigned long long bytesReceived;
  unsigned long long bytesCopied;  /* from place to place; what arrives in its place is not */
  unsigned long long bytesReduced; /* written by combining */
  double callerSeconds;            /* of threads that called */
  double threadSeconds;            /* of the communicator's own threads */
} hktCounters_t;

/* Any operation, with everything that it may be given. */
typedef struct {
  hktOperation_t operation;
  const void* sendbuff;
  void* recvbuff;
  size_t count;
  hktDataType_t datatype;
  hktRedOp_t op;
  int root;                 /* or the peer of hktOpSend and hktOpRecv */
  const size_t* sendcounts; /* of hktOpAllToAllV, in elements, one per rank */
  const size_t* sdispls;
  const size_t* recvcounts; /* of hktOpAllToAllV and hktOpAllGatherV */
  const size_t* rdispls;
  const char* description; /* joins the text of errors; may be NULL */
  double timeoutSeconds;   /* 0: the communicator's */
} hktCall_t;

hktResult_t hktGetVersion(int* version);
const char* hktGetErrorString(hktResult_t result);
/* Of the communicator, or of this thread's calls that had none (NULL); until its next failing call. */
const char* hktGetLastError(hktComm_t comm);

/* Rank 0 of the new communicator must be the process that made the id. */
hktResult_t hktGetUniqueId(hktUniqueId* id);
hktResult_t hktCommInitRank(hktComm_t* comm, int nranks, hktUniqueId id, int rank);
hktResult_t hktCommInitRankConfig(hktComm_t* comm, int nranks, hktUniqueId id, int rank, const hktConfig_t* config);
/* Who we are, and where rank 0 is, from the launcher's environment. */
hktResult_t hktCommInitEnv(hktComm_t* comm, const hktConfig_t* config);
#define HKT_SPLIT_NOCOLOR (-1)
hktResult_t hktCommSplit(hktComm_t comm, int color, int key, hktComm_t* newcomm);
hktResult_t hktCommDup(hktComm_t comm, hktComm_t* newcomm);
/* After a failure, on the ranks that are left: without the `count` ranks of `exclude`. */
hktResult_t hktCommShrink(hktComm_t comm, const int* exclude, int count, hktComm_t* newcomm);
/* Finishes what was started; its requests can still be waited for. */
hktResult_t hktCommDestroy(hktComm_t comm);
/* Ends it on all ranks; then hktCommDestroy does not wait. */
hktResult_t hktCommAbort(hktComm_t comm);
hktResult_t hktCommGetAsyncError(hktComm_t comm, hktResult_t* result);
hktResult_t hktCommCount(hktComm_t comm, int* count);
hktResult_t hktCommUserRank(hktComm_t comm, int* rank);
hktResult_t hktCommGetCounters(hktComm_t comm, hktCounters_t* counters);

/* Memory that other ranks of this host can map, as pages of zeroes; freed when no communicator has it registered. */
hktResult_t hktMemAlloc(void** ptr, size_t size);
hktResult_t hktMemFree(void* ptr);
/* Collectives then send from `buff` without a copy. hktMemAlloc must have given it; other memory is taken and stays as
   it is. At most 64 at a time; no call that uses it may be under way, here and at hktCommDeregister. */
hktResult_t hktCommRegister(hktComm_t comm, void* buff, size_t size, void** handle);
hktResult_t hktCommDeregister(hktComm_t comm, void* handle);

/* A scalar of the datatype multiplies this rank's input before the sum. */
hktResult_t hktRedOpCreatePreMulSum(hktRedOp_t* op, void* scalar, hktDataType_t datatype,
                                    hktScalarResidence_t residence, hktComm_t comm);
hktResult_t hktRedOpDestroy(hktRedOp_t op, hktComm_t comm);

hktResult_t hktAllReduce(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, hktRedOp_t op,
                         hktComm_t comm, hktRequest_t* request);
hktResult_t hktReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, hktDataType_t datatype,
                             hktRedOp_t op, hktComm_t comm, hktRequest_t* request);
hktResult_t hktAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, hktDataType_t datatype, hktComm_t comm,
                         hktRequest_t* request);
hktResult_t hktBroadcast(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, int root,
                         hktComm_t comm, hktRequest_t* request);
hktResult_t hktReduce(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, hktRedOp_t op,
                      int root, hktComm_t comm, hktRequest_t* request);
hktResult_t hktAlltoAll(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, hktComm_t comm,
                        hktRequest_t* request);
hktResult_t hktGather(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, int root,
                      hktComm_t comm, hktRequest_t* request);
hktResult_t hktScatter(const void* sendbuff, void* recvbuff, size_t count, hktDataType_t datatype, int root,
                       hktComm_t comm, hktRequest_t* request);
hktResult_t hktSend(const void* sendbuff, size_t count, hktDataType_t datatype, int peer, hktComm_t comm,
                    hktRequest_t* request);
hktResult_t hktRecv(void* recvbuff, size_t count, hktDataType_t datatype, int peer, hktComm_t comm,
                    hktRequest_t* request);
hktResult_t hktBarrier(hktComm_t comm, hktRequest_t* request);
hktResult_t hktCall(const hktCall_t* call, hktComm_t comm, hktRequest_t* request);

/* What this thread calls in between begins at the end, all at once; requests of such calls must be NULL. When one of
 * them was refused, none begins, and the end returns what the first that was refused did. */
hktResult_t hktGroupStart(void);
hktResult_t hktGroupEnd(void);

/* Frees the request. */
hktResult_t hktWait(hktRequest_t request);
/* As hktWait, but hktTimeout when it is not over in time; then the request stays. */
hktResult_t hktWaitFor(hktRequest_t request, double seconds);
/* done: 0 or 1; when it is 1 the request is freed. */
hktResult_t hktTest(hktRequest_t request, int* done);

/* A collective planned once; buffers come with each start. */
hktResult_t hktPlanCreate(hktPlan_t* plan, const hktCall_t* call, hktComm_t comm);
hktResult_t hktPlanStart(hktPlan_t plan, const void* sendbuff, void* recvbuff, hktRequest_t* request);
hktResult_t hktPlanDestroy(hktPlan_t plan);

#ifdef __cplusplus
}
#endif
