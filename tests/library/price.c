/* The price of a prompt of 512 tokens beside 63 decodes, of a scenario that is given as JSON. */
#include <rooflua.h>
#include <stdio.h>

int main(int argc, char **argv) {
  char error[1024] = "";
  rooflua_pricer *pricer = argc == 2 ? rooflua_open(NULL, argv[1], error, sizeof error) : NULL;
  if (pricer == NULL) {
    fprintf(stderr, "price JSON: %s\n", error);
    return 1;
  }
  int32_t contexts[63];
  for (int i = 0; i < 63; ++i) contexts[i] = 2048;
  const rooflua_prefill prompt = {.new_tokens = 512};
  const rooflua_batch batch = {.size = sizeof batch, .prefills = &prompt, .prefill_count = 1, .decodes = 63,
                               .decode_contexts = contexts};
  double seconds = 0;
  const int code = rooflua_price(pricer, &batch, &seconds, error, sizeof error);
  if (code != ROOFLUA_OK) {
    fprintf(stderr, "%d: %s\n", code, error);
    return 1;
  }
  /* The shortest text that reads back as the same number. */
  for (int digits = 15; digits <= 17; ++digits) {
    char text[64];
    double again = 0;
    snprintf(text, sizeof text, "%.*g", digits, seconds);
    sscanf(text, "%lf", &again);
    if (again == seconds) {
      puts(text);
      break;
    }
  }
  rooflua_close(pricer);
  return 0;
}
