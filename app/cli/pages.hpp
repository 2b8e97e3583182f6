#pragma once
// Lists that a node gives in pages.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "actors/core/request_limits.hpp"

namespace fairlead::app {

/// Fetches pages by `ask(request)` until there are `limit` items. A page may be short or empty and still have a next page.
/// `go_on(page, to)` writes to a request or a reply where the list goes on behind `page`; false: nowhere.
template <class Request, class Ask, class GoOn>
auto fetch_pages(Request request, std::uint32_t limit, Ask ask, GoOn go_on) -> decltype(ask(request)) {
  std::remove_cvref_t<decltype(*ask(request))> out;
  for (;;) {
    request.set_page_size(std::min<std::uint32_t>(limit - static_cast<std::uint32_t>(out.items_size()), max_page_size));
    auto page = ask(request);
    if (!page) return page.failure();
    for (auto& item : *page->mutable_items()) *out.add_items() = std::move(item);
    if constexpr (requires { page->missing(); })
      if (!page->missing().empty()) *out.mutable_missing() = page->missing();
    if (!go_on(*page, out) || static_cast<std::uint32_t>(out.items_size()) >= limit) return out;
    go_on(*page, request);
  }
}

}  // namespace fairlead::app
