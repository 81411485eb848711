#include "spec/hf/audio.h"

#include <cmath>
#include <string_view>

namespace rooflua::hf {

namespace {

/// How an encoder brings frames to patches, and patches to tokens. Sources: modeling_voxtral.py,
/// modeling_qwen2_audio.py, modeling_qwen3_omni_moe.py of transformers.
enum class SoundForm {
  voxtral,      // Whisper's convolutions; four patches in a row become a token
  qwen2_audio,  // Whisper's convolutions; two patches are averaged
  qwen3_omni,   // three convolutions over chunks of frames; windows of attention
};

struct KnownSound {
  std::string_view type, processor;
  SoundForm form;
};
constexpr KnownSound known_sounds[] = {
    {"voxtral_encoder", "voxtral", SoundForm::voxtral},
    {"qwen2_audio_encoder", "qwen2_audio", SoundForm::qwen2_audio},
    {"qwen3_omni_moe_audio_encoder", "qwen3_omni", SoundForm::qwen3_omni},
};

/// SoundFigures of audio_config, each 0 where it is absent or no size.
struct SoundFigures {
  int width = 0, inner = 0, layers = 0, heads = 0, mels = 0, positions = 0;
  int channels = 0, outputs = 0, chunk = 0, window = 0;  // of qwen3_omni; the last two are frames
};

int count_at(const Fields& audio, std::string_view key, std::string_view other) {
  const std::string_view there = audio.first_of({key, other});
  const double value = there.empty() ? 0 : audio.number(there).value_or(0);
  return value >= 1 && value <= 1e6 && value == std::floor(value) ? static_cast<int>(value) : 0;
}

SoundFigures sound_figures_of(const Fields& audio) {
  SoundFigures out;
  out.width = count_at(audio, "d_model", "hidden_size");
  out.inner = count_at(audio, "encoder_ffn_dim", "intermediate_size");
  out.layers = count_at(audio, "encoder_layers", "num_hidden_layers");
  out.heads = count_at(audio, "encoder_attention_heads", "num_attention_heads");
  out.mels = count_at(audio, "num_mel_bins", "num_mel_bins");
  out.positions = count_at(audio, "max_source_positions", "max_source_positions");
  out.channels = count_at(audio, "downsample_hidden_size", "downsample_hidden_size");
  out.outputs = count_at(audio, "output_dim", "output_dim");
  out.chunk = 2 * count_at(audio, "n_window", "n_window");
  out.window = count_at(audio, "n_window_infer", "n_window_infer");
  return out;
}

/// Length behind a convolution that takes every second element.
int halved(int length) {
  return (length + 1) / 2;
}

Projection conv(int inputs, int outputs, double rows = 1) {
  return {.inputs = inputs, .outputs = outputs, .rows = rows};
}

/// Two convolutions over three frames each, of which the second halves their number.
void read_whisper(const SoundFigures& of, ItemEncoder& out) {
  out.stem = {conv(3 * of.mels, of.width, 2), conv(3 * of.width, of.width)};
  out.parameters += double(of.positions) * of.width;
}

/// Three convolutions of 3 x 3 over chunks of frames and their frequencies, each of which halves
/// both; what is left of the frequencies becomes one patch.
void read_chunked(const SoundFigures& of, ItemEncoder& out) {
  int frames = of.chunk, bins = of.mels, inputs = 9;
  double rows[3];
  for (double& each : rows) {
    frames = halved(frames);
    bins = halved(bins);
    each = double(frames) * bins;
  }
  for (const double each : rows) {
    out.stem.push_back(conv(inputs, of.channels, each / frames));
    inputs = 9 * of.channels;
  }
  out.stem.push_back(conv(of.channels * bins, of.width));
  out.window = frames * (of.window / of.chunk);
}

double stem_weights_of(const std::vector<Projection>& list) {
  double out = 0;
  for (const Projection& each : list) out += double(each.inputs) * each.outputs * each.times;
  return out;
}

const KnownSound* sound_known_as(const Fields& audio) {
  const std::string type = audio.text("model_type").value_or("");
  for (const KnownSound& each : known_sounds)
    if (each.type == type) return &each;
  return nullptr;
}

/// Whether all is stated that the form needs.
bool states_all_of(const SoundFigures& of, SoundForm form) {
  if (of.width < 1 || of.inner < 1 || of.layers < 1 || of.heads < 1 || of.mels < 1) return false;
  if (of.layers > 2000 || of.heads > 10000 || of.mels > 10000) return false;
  if (form != SoundForm::qwen3_omni) return form != SoundForm::voxtral || of.inner % of.width == 0;
  return of.channels > 0 && of.channels <= 100000 && of.outputs > 0 && of.chunk > 0 &&
         of.window >= of.chunk;
}

}  // namespace

std::optional<ItemEncoder> audio_encoder(const Fields& config, int hidden_size) {
  const auto audio = config.table("audio_config");
  const KnownSound* about = audio ? sound_known_as(*audio) : nullptr;
  if (about == nullptr) return std::nullopt;
  const SoundFigures of = sound_figures_of(*audio);
  if (!states_all_of(of, about->form)) return std::nullopt;
  ItemEncoder out;
  out.hidden_size = of.width;
  out.intermediate_size = of.inner;
  out.layers = of.layers;
  out.heads = of.heads;
  out.processor = about->processor;
  switch (about->form) {
    case SoundForm::voxtral:
      read_whisper(of, out);
      out.patches_per_token = of.inner / of.width;
      out.projector = {conv(of.inner, hidden_size), conv(hidden_size, hidden_size)};
      break;
    case SoundForm::qwen2_audio:
      read_whisper(of, out);
      out.patches_per_token = 2;
      out.projector = {conv(of.width, hidden_size)};
      break;
    case SoundForm::qwen3_omni:
      read_chunked(of, out);
      out.projector = {conv(of.width, of.width), conv(of.width, of.outputs)};
      break;
  }
  const double width = of.width;
  out.parameters += of.layers * (4 * width * width + 2 * width * of.inner) +
                    stem_weights_of(out.stem) + stem_weights_of(out.projector);
  return out;
}

}  // namespace rooflua::hf
