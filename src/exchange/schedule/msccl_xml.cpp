// MSCCL XML, read by MSCCL and RCCL: <algo> of <gpu> of <tb> of <step>. See exchange/msccl.h.
#include "exchange/msccl.h"
#include "exchange/schedule_format.h"

namespace hocket {

extern const ScheduleFormat schedule_format_msccl_xml{
    .name = "msccl-xml",
    .extension = ".xml",
    .description = "MSCCL / RCCL algorithm file; equal pieces only, no routes, steps or names of ours",
    .recognise = is_msccl_xml,
    .read = read_msccl_xml,
    .write = write_msccl_xml,
    .write_losses = write_losses_of_msccl,
};

}  // namespace hocket
