#include "exchange/file_kind.h"

namespace hocket {

const FileKind* recognise_kind(std::string_view bytes) {
  for (const FileKind* kind : file_kinds()) {
    if (kind->recognise(bytes)) return kind;
  }
  return nullptr;
}

}  // namespace hocket
