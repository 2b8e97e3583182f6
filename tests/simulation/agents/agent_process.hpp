#pragma once
// One process of an agent: a host, and its backend, which asks the services.

#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/agents/agent_post.hpp"
#include "tests/simulation/agents/agent_work.hpp"

namespace fairlead::simulation {

/// What both an agent's process and a worker over HTTP say of themselves.
std::vector<std::string> lookups_of(const agent_site& site);
std::vector<v1::CallPolicy> policies_of(const agent_site& site);

class agents::process final : public fairlead::agents::backend, private labour {
 public:
  struct surroundings {
    labour::surroundings work;
    post::surroundings host;
  };
  process(world& in, services& behind, const agent_site& site, std::uint64_t incarnation, surroundings around);

  labour& work() { return *this; }
  post& host() { return host_; }
  const post& host() const { return host_; }

  // As a backend.
  void start(const v1::Perform& what, fairlead::agents::completion done) override { labour::start(what, std::move(done)); }
  void stop(const fairlead::agents::attempt_key& which) override { labour::stop(which); }
  std::vector<std::string> calls() const override { return {"do", "back"}; }
  std::vector<std::string> lookups() const override { return lookups_of(site_); }
  std::uint32_t capacity() const override { return site_.capacity; }
  std::vector<v1::CallPolicy> policies() const override { return policies_of(site_); }
  void report_progress_to(fairlead::agents::progress_sink sink) override { progress_ = std::move(sink); }
  bool beats_itself() const override { return site_.beats_itself; }
  void shut_down() override {}

 private:
  void begins(const fairlead::agents::attempt_key& key, const v1::Perform& what) override;
  void tells(const fairlead::agents::attempt_key& key, fairlead::agents::attempt_progress what) override {
    progress_(key, std::move(what));
  }
  void after_message() override { host_.after_message(); }

  fairlead::agents::progress_sink progress_;
  lease_book leases_;
  post host_;
};

}  // namespace fairlead::simulation
