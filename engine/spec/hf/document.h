#pragma once
// A config.json as one table of the language model, before any figure is read.

#include <string>
#include <vector>

#include "base/json.h"

namespace rooflua::hf {

/// The root with the members of the language model's table in place of its own. Multi-modal models
/// nest it under a word of their own: text_config, llm_config, thinker_config.text_config, ... The
/// table is known by what it holds: a number of layers and a hidden size.
/// @throws Error naming the tables where none or several of them describe a language model
Json language_model(const Json& document, const std::string& origin);

/// Whether a document describes a model with keys of a config.json, nested or not.
bool is_config(const Json& document);

/// Whether it lists keys under `ignore`: those are taken out, with `ignore` itself.
/// @throws Error for a name that is no key of the document
std::vector<std::string> take_out_ignored(Json& config, const std::string& origin);

/// Keys that mean what another one means: those of published files that are known, and those that
/// `read_as` = {theirs = known} names, which is taken out. @returns the latter, "theirs as known"
/// @throws Error for a name that is no key of the document, and where both keys state values
std::vector<std::string> take_other_words(Json& config, const std::string& origin);

/// A list with the same number for each layer becomes this number.
/// @throws Error if such a list does not have one entry for each layer
void join_equal_lists(Json& config, int layers, const std::string& origin);

/// @throws Error for a file of another kind, naming it: params.json, tokenizer_config.json, an
/// index of weights, an adapter, ...
void refuse_other_files(const Json& document, const std::string& origin);

}  // namespace rooflua::hf
