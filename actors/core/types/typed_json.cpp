#include "actors/core/types/typed_json.hpp"

#include <google/protobuf/descriptor.h>

#include <set>

#include "actors/core/text/json.hpp"
#include "actors/core/text/json_cursor.hpp"
#include "actors/core/text/nearest.hpp"
#include "actors/core/text/text.hpp"
#include "actors/core/types/typed_json_scalars.hpp"

namespace fairlead::core {

namespace {

namespace pb = google::protobuf;
using type_id = pb::FieldDescriptor::Type;

const pb::FieldDescriptor* field_of(const pb::Descriptor& type, const std::string& key) {
  if (const auto* found = type.FindFieldByName(key)) return found;
  if (const auto* found = type.FindFieldByCamelcaseName(key); found != nullptr && found->json_name() == key) return found;
  for (int i = 0; i < type.field_count(); ++i)
    if (type.field(i)->json_name() == key) return type.field(i);
  return nullptr;
}

std::string nearest_field(const pb::Descriptor& type, const std::string& key) {
  std::vector<std::string> names;
  for (int i = 0; i < type.field_count(); ++i) {
    names.push_back(type.field(i)->name());
    if (type.field(i)->json_name() != type.field(i)->name()) names.push_back(type.field(i)->json_name());
  }
  return nearest(key, names);
}

class walker {
 public:
  walker(json_holes holes, std::size_t limit) : holes_(holes), limit_(limit) {}

  void message(std::string_view json, const pb::Descriptor& type) {
    if (full() || hole(json) || known_type(json, type)) return;
    if (json.front() != '{') return add("expected an object for " + type.full_name() + ", found " + json_kind(json));
    std::set<int> given;
    std::set<const pb::OneofDescriptor*> chosen;
    json_cursor at{json};
    for (std::string_view raw_key, value; at.next_member(raw_key, value) && !full();) {
      const auto key = decode_json_string(raw_key);
      const auto* field = field_of(type, key);
      const auto here = enter(key);
      if (field == nullptr) {
        const auto close = nearest_field(type, key);
        add(type.full_name() + " has no field " + shown(key) + (close.empty() ? std::string{} : "; nearest: " + close));
        continue;
      }
      if (!given.insert(field->number()).second) {
        add("the field " + field->name() + " is given twice");
        continue;
      }
      // Null means absent, except for the types to which null is a value.
      if (value == "null" && !takes_null(*field)) {
        if (!field->is_required()) continue;
        given.erase(field->number());
        continue;
      }
      if (const auto* oneof = field->real_containing_oneof(); oneof != nullptr && !chosen.insert(oneof).second) {
        add("another field of the oneof " + oneof->name() + " is given as well");
        continue;
      }
      any_field(value, *field);
    }
    for (int i = 0; i < type.field_count() && !full(); ++i)
      if (type.field(i)->is_required() && given.count(type.field(i)->number()) == 0)
        add("the required field " + type.field(i)->name() + " of " + type.full_name() + " is missing");
  }

  std::vector<json_mismatch> take() { return std::move(found_); }

 private:
  bool full() const { return found_.size() >= limit_; }

  void add(std::string sentence) {
    if (!full()) found_.push_back({path_, std::move(sentence), {}});
  }

  /// Restores the path at the end of the scope.
  class place {
   public:
    place(std::string& path, std::string more) : path_(path), size_(path.size()) { path_ += more; }
    ~place() { path_.resize(size_); }
    place(const place&) = delete;
    place& operator=(const place&) = delete;

   private:
    std::string& path_;
    std::size_t size_;
  };

  place enter(const std::string& key) {
    const auto spelled = spell_json_key(shown(key));
    // `.a` after something, `a` at the beginning, `["a b"]` anywhere.
    return {path_, path_.empty() && spelled.front() == '.' ? spelled.substr(1) : spelled};
  }
  place enter(std::size_t index) { return {path_, "[" + std::to_string(index) + "]"}; }

  bool hole(std::string_view json) const {
    return holes_ == json_holes::expressions && json.front() == '"' && decode_json_string(json).find("${") != std::string::npos;
  }

  static bool takes_null(const pb::FieldDescriptor& field) {
    if (field.is_repeated()) return false;
    if (field.type() == type_id::TYPE_MESSAGE) return field.message_type()->full_name() == "google.protobuf.Value";
    return field.type() == type_id::TYPE_ENUM && field.enum_type()->full_name() == "google.protobuf.NullValue";
  }

  void any_field(std::string_view json, const pb::FieldDescriptor& field) {
    if (hole(json)) return;
    if (field.is_map()) return map(json, field);
    if (!field.is_repeated()) return single(json, field);
    if (json.front() != '[') return add("expected a list of " + type_words(field) + ", found " + json_kind(json));
    json_cursor at{json};
    std::size_t index = 0;
    for (std::string_view value; at.next_element(value) && !full(); ++index) {
      const auto here = enter(index);
      if (value == "null" && !(field.type() == type_id::TYPE_MESSAGE && field.message_type()->full_name() == "google.protobuf.Value"))
        add("null is not allowed in a list of " + type_words(field));
      else
        single(value, field);
    }
  }

  void map(std::string_view json, const pb::FieldDescriptor& field) {
    if (json.front() != '{') return add("expected an object, for a map, found " + std::string{json_kind(json)});
    const auto& key_field = *field.message_type()->map_key();
    const auto& value_field = *field.message_type()->map_value();
    std::set<std::string> given;
    json_cursor at{json};
    for (std::string_view raw_key, value; at.next_member(raw_key, value) && !full();) {
      auto key = decode_json_string(raw_key);
      const auto here = enter(key);
      if (auto why = refuse_map_key(key, key_field); !why.empty()) {
        add(std::move(why));
        continue;
      }
      if (!given.insert(std::move(key)).second) {
        add("this key is given twice");
        continue;
      }
      if (value == "null" && !takes_null(value_field))
        add("null is not allowed in a map");
      else
        single(value, value_field);
    }
  }

  void single(std::string_view json, const pb::FieldDescriptor& field) {
    if (hole(json)) return;
    if (field.type() == type_id::TYPE_MESSAGE || field.type() == type_id::TYPE_GROUP) return message(json, *field.message_type());
    if (auto why = refuse_scalar(json, field); !why.empty()) add(std::move(why));
  }

  /// The types with a JSON form of their own. True: `type` is one of these; its mismatches have been added.
  bool known_type(std::string_view json, const pb::Descriptor& type) {
    const auto& name = type.full_name();
    if (name.rfind("google.protobuf.", 0) != 0) return false;
    if (name == "google.protobuf.Value") return true;
    if (name == "google.protobuf.Struct") {
      if (json.front() != '{') add(std::string{"expected an object, found "} + json_kind(json));
      return true;
    }
    if (name == "google.protobuf.ListValue") {
      if (json.front() != '[') add(std::string{"expected a list, found "} + json_kind(json));
      return true;
    }
    if (name == "google.protobuf.Any") {
      any(json);
      return true;
    }
    if (is_wrapper(type)) {
      if (auto why = refuse_scalar(json, *type.FindFieldByNumber(1)); !why.empty()) add(std::move(why));
      return true;
    }
    auto why = refuse_known_text(json, name);
    if (!why) return false;
    if (!why->empty()) add(std::move(*why));
    return true;
  }

  /// The content of an Any is not known here; it must name its type.
  void any(std::string_view json) {
    if (json.front() != '{') return add(std::string{"expected an object with @type, found "} + json_kind(json));
    const auto type = json_member(json, "@type");
    if (type ? type->front() != '"' : !trim_json(json.substr(1, json.size() - 2)).empty()) add("an Any needs its @type");
  }

  json_holes holes_;
  std::size_t limit_;
  std::string path_;
  std::vector<json_mismatch> found_;
};

}  // namespace

std::vector<json_mismatch> check_typed_json(std::string_view json, const pb::Descriptor& type, json_holes holes, std::size_t limit) {
  walker walk{holes, limit};
  walk.message(trim_json(json), type);
  return walk.take();
}

}  // namespace fairlead::core
