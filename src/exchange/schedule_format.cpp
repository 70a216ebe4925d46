#include "exchange/schedule_format.h"

#include <filesystem>

#include "exchange/file_text.h"

namespace hocket {

const ScheduleFormat* recognise_schedule(std::string_view bytes) {
  for (const ScheduleFormat* format : schedule_formats()) {
    if (format->recognise != nullptr && format->recognise(bytes)) return format;
  }
  return nullptr;
}

Result<Schedule> load_schedule(const std::string& path, LossReport* losses) {
  HOCKET_TRY_ASSIGN(const FileText text, read_file_text(path, kScheduleTextMax));
  if (losses != nullptr) losses->append(text.losses);
  const std::string& bytes = text.bytes;
  if (const ScheduleFormat* const format = recognise_schedule(bytes)) {
    if (losses != nullptr && format->read_losses != nullptr) losses->append(format->read_losses(bytes));
    return format->read(bytes, path);
  }
  std::string known;
  for (const ScheduleFormat* format : schedule_formats()) {
    if (format->read != nullptr) known += fmt::format("{}{}", known.empty() ? "" : ", ", format->name);
  }
  return fail(Code::kMalformed, "{}: not a schedule in a format known ({})", path, known);
}

Result<void> save_schedule(const Schedule& schedule, const std::string& path) {
  HOCKET_TRY_ASSIGN(const ScheduleFormat* const format, schedule_format_for_path(path));
  HOCKET_TRY_ASSIGN(const std::string bytes, format->write(schedule));
  return write_file(path, bytes);
}

Result<const ScheduleFormat*> schedule_format_for_path(const std::string& path) {
  const ScheduleFormat* longest = nullptr;
  std::string known;
  for (const ScheduleFormat* format : schedule_formats()) {
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format->extension);
    if (!path.ends_with(format->extension)) continue;
    if (longest == nullptr || format->extension.size() > longest->extension.size()) longest = format;
  }
  if (longest != nullptr) return longest;
  return fail(Code::kInvalidArgument, "{}: unknown extension '{}'; known: {}", path,
              std::filesystem::path(path).extension().string(), known);
}

LossReport losses_of_saving(const Schedule& schedule, const std::string& path) {
  const Result<const ScheduleFormat*> format = schedule_format_for_path(path);
  if (!format || (*format)->write_losses == nullptr) return {};
  return (*format)->write_losses(schedule);
}

}  // namespace hocket
