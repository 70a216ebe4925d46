#include "exchange/file_text.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace hocket {
namespace {

constexpr int kSilence_ms = 10'000;

struct Descriptor {
  int number = -1;
  explicit Descriptor(int descriptor) : number(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

/// Bytes read, 0 at the end. Waits while there is nothing yet, but not for ever.
Result<std::size_t> read_some(int descriptor, std::span<char> block, const std::string& path) {
  for (;;) {
    pollfd wanted{.fd = descriptor, .events = POLLIN, .revents = 0};
    const int ready = poll(&wanted, 1, kSilence_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return fail(Code::kIo, "cannot read '{}': {}", path, std::generic_category().message(errno));
    if (ready == 0) return fail(Code::kIo, "'{}' sent nothing for {} s", path, kSilence_ms / 1000);
    const ssize_t count = read(descriptor, block.data(), block.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR && errno != EAGAIN)
      return fail(Code::kIo, "cannot read '{}': {}", path, std::generic_category().message(errno));
  }
}

struct InflateEnd {
  void operator()(z_stream* stream) const {
    inflateEnd(stream);
    delete stream;
  }
};

/// `ends_early`, when given, is told so instead of an error.
Result<std::string> unpack(std::string_view packed, std::string_view file_name, std::size_t limit, bool* ends_early) {
  constexpr int kGzipOnly = 15 + 16;
  const std::unique_ptr<z_stream, InflateEnd> stream(new z_stream{});
  if (inflateInit2(stream.get(), kGzipOnly) != Z_OK) return fail(Code::kResourceExhausted, "no memory for zlib");
  std::string out;
  char block[1 << 16];
  std::size_t taken = 0;
  while (taken < packed.size()) {
    stream->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream->avail_in = static_cast<uInt>(std::min<std::size_t>(packed.size() - taken, std::size_t{1} << 30));
    const uInt offered = stream->avail_in;
    stream->next_out = reinterpret_cast<Bytef*>(block);
    stream->avail_out = sizeof block;
    const int state = inflate(stream.get(), Z_NO_FLUSH);
    taken += offered - stream->avail_in;
    out.append(block, sizeof block - stream->avail_out);
    if (out.size() > limit) {
      return fail(Code::kResourceExhausted, "{}: unpacks to more than {} bytes", file_name, limit);
    }
    if (state == Z_STREAM_END) {
      if (taken == packed.size()) return out;
      if (inflateReset(stream.get()) != Z_OK) break;  // a further member follows
    } else if (state != Z_OK) {
      return fail(Code::kMalformed, "{}: gzip stream is damaged at byte {}: {}", file_name, taken,
                  stream->msg == nullptr ? "unexpected end" : stream->msg);
    }
  }
  if (ends_early != nullptr) {
    *ends_early = true;
    return out;
  }
  return fail(Code::kMalformed, "{}: gzip stream ends early, at byte {} ({} bytes unpacked)", file_name, packed.size(),
              out.size());
}

void append_utf8(std::string& out, std::uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
    return;
  }
  const int extra = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  const std::uint32_t lead = extra == 1 ? 0xC0 : extra == 2 ? 0xE0 : 0xF0;
  out += static_cast<char>(lead | point >> (6 * extra));
  for (int i = extra - 1; i >= 0; --i) out += static_cast<char>(0x80 | (point >> (6 * i) & 0x3F));
}

Result<std::string> from_utf16(std::string_view bytes, bool big_endian, std::string_view file_name) {
  if (bytes.size() % 2 != 0) return fail(Code::kMalformed, "{}: UTF-16 with an odd number of bytes", file_name);
  const auto unit_at = [&](std::size_t i) {
    const auto first = static_cast<unsigned char>(bytes[i]), second = static_cast<unsigned char>(bytes[i + 1]);
    return static_cast<std::uint32_t>(big_endian ? first << 8 | second : second << 8 | first);
  };
  std::string out;
  for (std::size_t i = 2; i < bytes.size(); i += 2) {
    std::uint32_t point = unit_at(i);
    if (point >= 0xD800 && point < 0xDC00 && i + 2 < bytes.size() && (unit_at(i + 2) & 0xFC00) == 0xDC00) {
      point = 0x10000 + ((point & 0x3FF) << 10) + (unit_at(i + 2) & 0x3FF);
      i += 2;
    } else if (point >= 0xD800 && point < 0xE000) {
      return fail(Code::kMalformed, "{}: byte {}: half a UTF-16 surrogate pair", file_name, i);
    }
    append_utf8(out, point);
  }
  return out;
}

}  // namespace

Result<std::string> read_file_bytes(const std::string& path, std::size_t limit) {
  if (path.find('\0') != std::string::npos) return fail(Code::kIo, "a path holds a zero byte");
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.number < 0) return fail(Code::kIo, "cannot open '{}': {}", path, std::generic_category().message(errno));
  struct stat status {};
  if (fstat(file.number, &status) != 0)
    return fail(Code::kIo, "cannot read '{}': {}", path, std::generic_category().message(errno));
  if (S_ISDIR(status.st_mode)) return fail(Code::kIo, "'{}' is a folder, not a file", path);
  if (S_ISBLK(status.st_mode)) return fail(Code::kIo, "'{}' is a block device, not a file", path);
  std::string bytes;
  char block[1 << 16];
  for (;;) {
    HOCKET_TRY_ASSIGN(const std::size_t count, read_some(file.number, block, path));
    if (count == 0) return bytes;
    bytes.append(block, count);
    if (bytes.size() > limit) return fail(Code::kResourceExhausted, "'{}' is larger than {} bytes", path, limit);
  }
}

Result<FileText> decode_text(std::string bytes, std::string_view file_name, std::size_t limit, CutGzip cut) {
  FileText result;
  if (bytes.starts_with("\x1f\x8b")) {
    bool ends_early = false;
    HOCKET_TRY_ASSIGN(std::string unpacked,
                      unpack(bytes, file_name, limit, cut == CutGzip::kKeep ? &ends_early : nullptr));
    if (ends_early) {
      result.losses.repaired(fmt::format("byte {}", bytes.size()), "a gzip stream that ends early",
                             fmt::format("the {} bytes before are kept", unpacked.size()));
    }
    result.losses.assumed("", "gzip packing", fmt::format("{} bytes unpacked to {}", bytes.size(), unpacked.size()));
    bytes = std::move(unpacked);
  }
  if (bytes.starts_with("\xEF\xBB\xBF")) {
    bytes.erase(0, 3);
    result.losses.assumed("byte 0", "UTF-8 by its byte order mark", "the mark is dropped");
  } else if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    HOCKET_TRY_ASSIGN(bytes, from_utf16(bytes, bytes.front() == '\xFE', file_name));
    result.losses.repaired("byte 0", "UTF-16", "read as UTF-8; lines and columns count UTF-8 bytes");
  }
  result.bytes = std::move(bytes);
  return result;
}

Result<FileText> read_file_text(const std::string& path, std::size_t limit, CutGzip cut) {
  HOCKET_TRY_ASSIGN(std::string bytes, read_file_bytes(path, limit));
  return decode_text(std::move(bytes), path, limit, cut);
}

}  // namespace hocket
