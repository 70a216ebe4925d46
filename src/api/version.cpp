#include "hocket/version.h"

#include "base/version.h"

namespace hocket {

std::string_view version() { return build_stamp().version; }

}  // namespace hocket
