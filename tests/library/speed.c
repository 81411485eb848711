/* How long a price takes, of a shape that is remembered and of new ones; the thread's CPU time. */
#include <rooflua.h>
#include <stdio.h>
#include <time.h>

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int lap(const char *what, rooflua_pricer *pricer, rooflua_batch *batch, int steps, int is_new) {
  char error[512];
  double seconds = 0, sum = 0;
  const double begin_s = now_s();
  for (int i = 0; i < steps; ++i) {
    if (is_new) batch->decode_context_tokens += 1;
    const int code = rooflua_price(pricer, batch, &seconds, error, sizeof error);
    if (code != ROOFLUA_OK) return fprintf(stderr, "%d: %s\n", code, error), 1;
    sum += seconds;
  }
  printf("%-34s %8.0f ns a call (mean step %.3f ms)\n", what, 1e9 * (now_s() - begin_s) / steps, 1e3 * sum / steps);
  return 0;
}

int main(void) {
  char error[512] = "";
  rooflua_pricer *pricer = rooflua_open(NULL,
      "{\"model\": \"llama-3.1-8b\", \"hardware\": \"h200-sxm\", \"engine\": \"vllm 0.19\"}", error, sizeof error);
  if (pricer == NULL) return fprintf(stderr, "%s\n", error), 1;
  int32_t contexts[256];
  for (int i = 0; i < 256; ++i) contexts[i] = 1000 + 7 * i;
  rooflua_batch sum = {.size = sizeof sum, .decodes = 64, .decode_context_tokens = 64 * 2048};
  rooflua_batch each = {.size = sizeof each, .decodes = 64, .decode_contexts = contexts};
  rooflua_batch many = {.size = sizeof many, .decodes = 256, .decode_contexts = contexts};
  const rooflua_prefill prompts[2] = {{512, 0, 0}, {300, 1024, 1}};
  rooflua_batch mixed = {.size = sizeof mixed, .prefills = prompts, .prefill_count = 2, .decodes = 60,
                         .decode_context_tokens = 60 * 2048};
  const int wrong = lap("64 decodes, their sum, remembered", pricer, &sum, 1000000, 0) ||
      lap("64 contexts, remembered", pricer, &each, 1000000, 0) ||
      lap("256 contexts, remembered", pricer, &many, 1000000, 0) ||
      lap("2 prompts, 60 decodes, remembered", pricer, &mixed, 1000000, 0) ||
      lap("64 decodes, new", pricer, &sum, 200000, 1) ||
      lap("2 prompts, 60 decodes, new", pricer, &mixed, 200000, 1);
  rooflua_close(pricer);
  return wrong;
}
