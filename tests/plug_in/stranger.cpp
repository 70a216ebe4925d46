// A plug-in of another build: version, kind of build and compiler are those of the program, its headers are others.
// Nothing of it may be called.
#include <cstdlib>

#include "transport/plug_in.h"

namespace {

const std::string& build() {
  static const std::string own = hocket::build_text();
  static const std::string text = own.substr(0, own.rfind(' ')) + " 0123456789abcdef";
  return text;
}

hocket::Result<std::unique_ptr<hocket::RankTransport>> open(hocket::Job& /*job*/, hocket::SteadyTime /*deadline*/) {
  std::abort();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const hocket::TransportPlugIn hocket_transport{build().c_str(), open};
