/* A simulation of a scenario that is given as JSON: a second in tenths, then a copy to its end, whose document of
 * results is printed. */
#include <rooflua.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(const char *message) {
  fprintf(stderr, "simulate JSON: %s\n", message);
  return 1;
}

int main(int argc, char **argv) {
  char error[1024] = "";
  rooflua_run *run = argc == 2 ? rooflua_run_open(NULL, argv[1], error, sizeof error) : NULL;
  if (run == NULL) return failed(error);
  int more = 1;
  for (int tenths = 1; more == 1 && tenths <= 10; ++tenths) {
    more = rooflua_run_until(run, 0.1 * tenths, error, sizeof error);
  }
  rooflua_run *future = rooflua_run_fork(run, error, sizeof error);
  rooflua_run_close(run);
  if (more < 0 || future == NULL || rooflua_run_until(future, INFINITY, error, sizeof error) != 0) return failed(error);

  const int bytes = rooflua_run_result(future, NULL, 0); /* how many there are, without the NUL */
  char *json = bytes > 0 ? malloc((size_t)bytes + 1) : NULL;
  if (json == NULL || rooflua_run_result(future, json, (size_t)bytes + 1) != bytes) return failed("no result");
  puts(json);
  free(json);
  rooflua_run_close(future);
  return 0;
}
