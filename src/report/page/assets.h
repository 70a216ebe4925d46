// The style sheets and scripts of the page: page/*.css and page/*.js in alphabetical order, put into the library by the
// build (cmake/embed.cmake). Edit those files; nothing else needs a change.
// Ownership: literals of this binary. Threading: constants. Refuses: nothing.
#pragma once

#include <string_view>

namespace hocket {

[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_script();

}  // namespace hocket
