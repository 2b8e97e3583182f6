// Every message through CAF's serializers and back.

#define CAF_SUITE messages_suite

#include "tests/actors/suite_world.hpp"

#include <google/protobuf/descriptor.h>

#include <set>

namespace {

using namespace fairlead;

using every_message = std::tuple<
    v1::SubmitRequest, v1::SubmitReply, v1::FinishedNotice, v1::StatesRequest, v1::StatesReply, v1::TaskListRequest, v1::TaskListReply,
    v1::TaskShowRequest, v1::TaskShowReply, v1::WatchRequest, v1::WatchReply, v1::DeployRequest, v1::DeployReply, v1::WorkflowListRequest,
    v1::WorkflowListReply, v1::WorkflowShowRequest, v1::WorkflowShowReply, v1::StatusRequest, v1::StatusReply, v1::PerformBatch,
    v1::OutcomeBatch, v1::OutcomeAckBatch, v1::RegisterAgent, v1::RecoverBatch, v1::RecoveryHintBatch, v1::EvaluateReply,
    v1::OperateRequest, v1::OperateReply, v1::AlertListRequest, v1::AlertListReply, v1::AlertShowRequest, v1::AlertShowReply,
    v1::AlertAckRequest, v1::AlertAckReply, v1::BrakeReleaseRequest, v1::BrakeReleaseReply, v1::RepliesRequest, v1::RepliesReply,
    v1::DoctorRequest, v1::DoctorReply, v1::HeartbeatBatch, v1::HeartbeatAckBatch, v1::AgentOperateRequest, v1::AgentOperateReply,
    v1::Hello, v1::HelloReply, v1::AgentWelcome, v1::Beacon, v1::BeaconAck, v1::InspectRequest, v1::InspectReply, v1::NodeOperateRequest,
    v1::NodeOperateReply, v1::JobApplyRequest, v1::JobApplyReply, v1::JobListRequest, v1::JobListReply, v1::JobShowRequest,
    v1::JobShowReply, v1::JobHistoryRequest, v1::JobHistoryReply, v1::JobOperateRequest, v1::JobOperateReply, v1::WorkflowDeleteRequest,
    v1::WorkflowDeleteReply, v1::ReplicaBatch, v1::ReplicaHello, v1::ReplicaWelcome, v1::ReplicaCopy, v1::ShardNodesRequest,
    v1::ShardNodesReply, v1::AuditListRequest, v1::AuditListReply, v1::CertificateReport, v1::WorkerSessionRequest, v1::WorkerSessionReply>;

/// Puts a value into every field, two into repeated ones.
void fill(google::protobuf::Message& out, int depth = 0) {
  const auto* type = out.GetDescriptor();
  const auto* access = out.GetReflection();
  for (int i = 0; i < type->field_count(); ++i) {
    const auto* field = type->field(i);
    using kind = google::protobuf::FieldDescriptor;
    for (int n = 0; n < (field->is_repeated() ? 2 : 1); ++n) {
      const auto put = [&](auto add, auto set, auto value) {
        field->is_repeated() ? (access->*add)(&out, field, value) : (access->*set)(&out, field, value);
      };
      using refl = google::protobuf::Reflection;
      const auto number = 1 + i + n;
      switch (field->cpp_type()) {
        case kind::CPPTYPE_INT32: put(&refl::AddInt32, &refl::SetInt32, -number); break;
        case kind::CPPTYPE_INT64: put(&refl::AddInt64, &refl::SetInt64, -(std::int64_t{1} << (20 + i % 40))); break;
        case kind::CPPTYPE_UINT32: put(&refl::AddUInt32, &refl::SetUInt32, static_cast<std::uint32_t>(number)); break;
        case kind::CPPTYPE_UINT64: put(&refl::AddUInt64, &refl::SetUInt64, std::uint64_t{1} << (40 + i % 20)); break;
        case kind::CPPTYPE_DOUBLE: put(&refl::AddDouble, &refl::SetDouble, 0.1 * number); break;
        case kind::CPPTYPE_FLOAT: put(&refl::AddFloat, &refl::SetFloat, 0.5f); break;
        case kind::CPPTYPE_BOOL: put(&refl::AddBool, &refl::SetBool, true); break;
        case kind::CPPTYPE_ENUM:
          put(&refl::AddEnumValue, &refl::SetEnumValue, field->enum_type()->value(field->enum_type()->value_count() - 1)->number());
          break;
        case kind::CPPTYPE_STRING: {
          using namespace std::string_literals;
          const auto text = (field->type() == kind::TYPE_BYTES ? "\x00\xff bytes"s : "t\xc3\xa4xt"s) + std::to_string(number);
          field->is_repeated() ? access->AddString(&out, field, text) : access->SetString(&out, field, text);
          break;
        }
        case kind::CPPTYPE_MESSAGE:
          if (depth < 6) fill(field->is_repeated() ? *access->AddMessage(&out, field) : *access->MutableMessage(&out, field), depth + 1);
          break;
      }
    }
  }
}

struct fixture : test_coordinator_fixture<testing::suite_config> {
  template <class Message>
  void check() {
    const auto name = std::string{Message::descriptor()->name()};
    Message full;
    fill(full);
    CAF_CHECK(Message::descriptor()->field_count() == 0 || full.ByteSizeLong() > 0);
    CAF_CHECK(roundtrip(full) == full);
    CAF_CHECK(roundtrip(Message{}) == Message{});
    // As an element of a message of CAF, the way it crosses nodes.
    const auto message = caf::make_message(full);
    const auto back = roundtrip(message);
    CAF_REQUIRE(back.template match_elements<Message>());
    CAF_CHECK(back.template get_as<Message>(0) == full);
    const auto text = caf::deep_to_string(full);  // the short form, as a quoted string
    CAF_CHECK(text.size() >= full.ShortDebugString().size());
    CAF_CHECK(text.find("unprintable") == std::string::npos);
    // Bytes that are no such message.
    byte_buffer bytes;
    caf::binary_serializer sink{sys, bytes};
    CAF_REQUIRE(!sink(std::string{"\xff\xff\xff\xff"}));
    caf::binary_deserializer source{sys, bytes};
    Message never;
    CAF_CHECK(source(never) != caf::none);
    CAF_MESSAGE("checked " + name);
  }

  template <class... Messages>
  void check_all(std::tuple<Messages...>*) {
    (check<Messages>(), ...);
    const std::set<std::uint16_t> ids{caf::type_id<Messages>::value...};
    CAF_CHECK_EQUAL(ids.size(), sizeof...(Messages));
    CAF_CHECK_EQUAL(*ids.begin(), caf::first_custom_type_id);
    CAF_CHECK_EQUAL(*ids.rbegin(), caf::first_custom_type_id + sizeof...(Messages) - 1);
    // The first type that stays within the process follows at once: no message was forgotten above.
    CAF_CHECK_EQUAL(caf::type_id<commit_request>::value, *ids.rbegin() + 1);
  }
};

}  // namespace

CAF_TEST_FIXTURE_SCOPE(messages_tests, fixture)

CAF_TEST(the_numbers_of_messages_are_those_of_earlier_releases) {
  CAF_CHECK_EQUAL(caf::type_id<v1::PerformBatch>::value, caf::first_custom_type_id + 19);
  CAF_CHECK_EQUAL(caf::type_id<v1::Hello>::value, caf::first_custom_type_id + 44);
  CAF_CHECK_EQUAL(caf::type_id<v1::JobOperateReply>::value, caf::first_custom_type_id + 62);
}

CAF_TEST(every_message_crosses_nodes_unchanged) { check_all(static_cast<every_message*>(nullptr)); }

CAF_TEST_FIXTURE_SCOPE_END()
