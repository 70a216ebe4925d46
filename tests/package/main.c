/* Two ranks add up: started twice, with HOCKET_RANK=0 and 1, HOCKET_SIZE=2, HOCKET_LOCAL_SIZE=2 and a HOCKET_JOB. */
#include <hocket.h>
#include <stdio.h>

int main(void) {
  hktComm_t comm;
  double values[3] = {1, 2, 3};
  int rank = -1;
  if (hktCommInitEnv(&comm, NULL) != hktSuccess) {
    fprintf(stderr, "%s\n", hktGetLastError(NULL));
    return 1;
  }
  hktCommUserRank(comm, &rank);
  values[0] += rank;
  if (hktAllReduce(values, values, 3, hktFloat64, hktSum, comm, NULL) != hktSuccess) {
    fprintf(stderr, "%s\n", hktGetLastError(comm));
    return 1;
  }
  if (rank == 1) printf("rank %d: %g %g %g\n", rank, values[0], values[1], values[2]);
  return hktCommDestroy(comm) == hktSuccess ? 0 : 1;
}
