#include <utility>

#include "app/door/listener.hpp"
#include "app/door/mailbox.hpp"
#include "app/door/problem.hpp"

namespace fairlead::app::door {

answerer::answerer(std::shared_ptr<mailbox> to, std::uint64_t number, std::string id, std::size_t bytes)
    : to_(std::move(to)), number_(number), id_(std::move(id)), bytes_(bytes) {
  to_->hold(bytes_);
}
answerer::~answerer() {
  if (streams_) {
    end();
    return;
  }
  if (!is_over()) (*this)(to_answer({"internal", "The request was dropped.", "Report this as a bug.", {}, {}, false}, id_));
  to_->release(bytes_);
}
void answerer::operator()(answer what) { to_->put({number_, std::move(what), {}, true}); }
void answerer::on_gone(std::function<void()> gone) { to_->on_gone(number_, std::move(gone)); }
void answerer::begin(answer head) {
  // The connections limit how many streams there are.
  if (!streams_.exchange(true)) to_->release(bytes_);
  to_->put({number_, std::move(head), {}, false});
}
void answerer::send(std::string more) { to_->put({number_, std::nullopt, std::move(more), false}); }
void answerer::end() { to_->put({number_, std::nullopt, {}, true}); }
bool answerer::is_over() const { return !to_->is_awaited(number_); }

}  // namespace fairlead::app::door
