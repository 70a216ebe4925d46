// MSCCL++ execution plan, read by MSCCL++'s executor: gpus of threadblocks of ops. See exchange/mscclpp.h.
#include "exchange/mscclpp.h"
#include "exchange/schedule_format.h"

namespace hocket {

extern const ScheduleFormat schedule_format_mscclpp_json{
    .name = "mscclpp-json",
    .extension = ".mscclpp.json",
    .description = "MSCCL++ execution plan; equal pieces only, memory channels, no routes or steps of ours",
    .recognise = is_mscclpp_json,
    .read = read_mscclpp_json,
    .write = write_mscclpp_json,
    .write_losses = write_losses_of_mscclpp,
    .read_losses = read_losses_of_mscclpp,
    .keeps_ops = false,
};

}  // namespace hocket
