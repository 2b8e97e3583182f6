#include "app/console/session.hpp"

#include <chrono>
#include <utility>

namespace fairlead::app {

namespace {

constexpr std::chrono::seconds longest_look{3};

}  // namespace

cli_context context_of(const console_settings& settings) {
  cli_context out;
  out.nodes = settings.nodes;
  out.token_file = settings.token_file;
  out.ca_file = settings.ca_file;
  out.timeout = settings.timeout;
  out.json = settings.json;
  return out;
}

console_session::console_session(console_settings settings, std::function<bool()> stop)
    : settings_(std::move(settings)), stop_(std::move(stop)), names_(context_of(settings_)) {}

cli_context console_session::context() const {
  auto out = context_of(settings_);
  out.keeper = link_;
  out.stop = stop_;
  return out;
}

console_outcome console_session::run(const console_words& words) {
  auto mine = context();
  memory_.watch.reset();
  memory_.quit = false;
  console_parser parser{mine, memory_};
  console_outcome out;
  out.code = parser.run(words);
  out.quit = memory_.quit;
  out.watch = std::move(memory_.watch);
  memory_.watch.reset();
  return out;
}

console_outcome console_session::look(const console_words& words) {
  link_->hurry(longest_look);
  auto out = run(words);
  link_->hurry(duration{0});
  return out;
}

console_candidates console_session::complete(const std::string& text) {
  auto mine = context();
  console_parser parser{mine, memory_};
  names_.begin();
  return app::complete(parser, text, names_);
}

}  // namespace fairlead::app
