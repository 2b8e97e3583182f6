#pragma once
// Those who submit: they send until they are answered, sometimes twice, sometimes something else under the same id, and note what they were told.
// Some want to be told how their tasks go: at a webhook, or under a name that they claim.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/simulation/people/claimants.hpp"
#include "tests/simulation/shard/home.hpp"

namespace fairlead::simulation {

class clients {
 public:
  /// `versions`: others of the first workflow, to be deployed in turn while tasks of it run.
  clients(world& in, network& net, home& shard, checker& judge, const std::vector<v1::WorkflowDefinition>& workflows,
          const std::vector<v1::WorkflowDefinition>& versions, std::string prefix);

  /// Deploys the workflows, then submits over the first part of the run.
  void begin(std::int64_t until_us);
  /// Everyone who wants an answer has one.
  bool satisfied() const;
  const std::vector<std::string>& ids() const { return ids_; }
  /// Of what they were told is taken, this store knows nothing: it was put back. They deploy and submit again, under the same ids.
  void submit_what_is_lost(const store::snapshot& view);
  /// The same once more, or something else under the same id.
  void submit_again(const std::string& id, bool other_content);

 private:
  struct wish {
    v1::Submission what;
    bool acknowledged = false;
    bool given_up = false;
    bool notify = false;
  };
  void deploy(std::size_t which);
  /// Somebody has been told that it is deployed.
  bool is_known(const std::string& workflow) const;
  void deploy_anew(const v1::WorkflowDefinition& version);
  void label(v1::Submission& what, std::uint64_t number) const;
  std::string pick_workflow() const;
  std::string list_for(const std::string& workflow, std::uint64_t number) const;
  std::string waits_for(const std::string& workflow, std::uint64_t number, std::int64_t until_us) const;
  void submit(std::size_t which);
  void answered(std::size_t which, const v1::SubmitReply& reply);
  void submit_other_content(std::size_t which);
  /// Inputs that no version of their workflow takes.
  void plan_unfit(std::int64_t until_us);
  void submit_unfit(const v1::Submission& what);
  void take_events(const std::string& body);

  world& world_;
  network& network_;
  home& home_;
  checker& checker_;
  const std::vector<v1::WorkflowDefinition>& workflows_;
  const std::vector<v1::WorkflowDefinition>& versions_;
  const std::string prefix_;     // of the ids of their tasks
  const std::int64_t ahead_us_;  // of the shard's clock, before anybody sets it
  std::vector<bool> deployed_;
  std::vector<wish> wishes_;
  std::vector<std::string> ids_;
  claimants claimants_;
};

}  // namespace fairlead::simulation
