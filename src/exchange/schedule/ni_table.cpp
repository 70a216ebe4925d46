// The schedule tables of network interfaces as a schedule file: see exchange/ni_table.h and exchange/ni_table_text.h.
#include "exchange/ni_table.h"

#include "exchange/ni_table_text.h"
#include "exchange/schedule_format.h"
#include "exchange/text_place.h"

namespace hocket {
namespace {

Result<Schedule> read(std::string_view bytes, std::string_view file_name) {
  HOCKET_TRY_ASSIGN(const NiTables tables, read_ni_tables(bytes, file_name));
  Result<Schedule> schedule = with_printable_error(schedule_of(tables));
  if (schedule) return schedule;
  return fail(schedule.error().code, "{}: {}", file_name, schedule.error().text);
}

Result<std::string> write(const Schedule& schedule) {
  LossReport losses;
  HOCKET_TRY_ASSIGN(const NiTables tables, tabulate(schedule, losses));
  return write_ni_tables(tables);
}

LossReport losses_of(const Schedule& schedule) {
  LossReport losses;
  if (const auto tables = tabulate(schedule, losses); !tables) losses = {};
  return losses;
}

}  // namespace

extern const ScheduleFormat schedule_format_ni_table{
    .name = "ni-table",
    .extension = ".nit",
    .description = "schedule tables of network interfaces: trees only, one entry a line, read back",
    .recognise = is_ni_tables,
    .read = read,
    .write = write,
    .write_losses = losses_of,
    .keeps_ops = false,
};

}  // namespace hocket
