// db:prepare: questions of which one or two numbers change, made once and asked through FFI.

#include "base/error.h"
#include "cost/database/prepared_questions.h"
#include "script/bind/questions.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

/// The number of the op that the text at list[i] names; none for "".
QueryNumber number_named(lua_State* L, int list, int i, Op op) {
  lua_rawgeti(L, list, i);
  const std::string given = check_text(L, lua_gettop(L), "db:prepare: number");
  lua_pop(L, 1);
  if (given.empty()) return {};
  if (const auto number = changing_number(op, given)) return number;
  std::vector<std::string> known;
  for (const Field& field : declaration_of(op).fields) {
    if (field.role == FieldRole::axis) known.emplace_back(field.name);
  }
  throw Error("db:prepare: a number that changes", unknown_name("field", given, known));
}

/// prepare(database, address of rooflua_query[], names of the first numbers, names of the second)
int prepare(lua_State* L) {
  const auto database = check_object<MfuDatabase>(L, 1, "db:prepare");
  const auto* given = static_cast<const rooflua_query*>(lua_topointer(L, 2));
  std::vector<PreparedQuestion> questions;
  for (std::size_t i = 0; i < lua_objlen(L, 3); ++i) {
    const int place = static_cast<int>(i) + 1;
    PreparedQuestion question;
    read_query(given[i], question.query);
    question.first = number_named(L, 3, place, question.query.op);
    question.second = number_named(L, 4, place, question.query.op);
    questions.push_back(question);
  }
  push_object(L, std::make_shared<const PreparedQuestions>(database, questions));
  return 1;
}

}  // namespace

void bind_prepared(lua_State* L) {
  set_function(L, "prepare", guarded<prepare>);
}

}  // namespace rooflua::script
