/* rooflua.h: what a step of LLM inference takes, and simulations, for other programs. Plain C.
 *
 * The price of steps:
 *
 *     char error[512];
 *     rooflua_pricer *pricer = rooflua_open("scenario.lua", NULL, error, sizeof error);
 *     rooflua_batch batch = {.size = sizeof batch, .decodes = 64, .decode_context_tokens = 64 * 2048};
 *     double seconds;
 *     if (rooflua_price(pricer, &batch, &seconds, error, sizeof error) != ROOFLUA_OK) puts(error);
 *     rooflua_close(pricer);
 *
 * A served scenario, event by event, with its state and its results on the way:
 *
 *     rooflua_run *run = rooflua_run_open("scenario.lua", NULL, error, sizeof error);
 *     while (rooflua_run_step(run, 100, error, sizeof error) > 0) ...
 *     rooflua_run_close(run);
 *
 * A pricer and a run belong to the thread that opened them: each thread opens its own, and they
 * share nothing.
 * No function prints, handles a signal, changes a setting of the process, or lets an exception
 * out. docs/LIBRARY.md says how a simulator of an engine uses this.
 */
#ifndef ROOFLUA_H
#define ROOFLUA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return. Below 0 there is an error. */
enum {
  ROOFLUA_OK = 0,
  ROOFLUA_ERROR = -1,   /* the scenario, its files, a policy, or the price of a batch */
  ROOFLUA_MISUSE = -2,  /* an argument: NULL, a negative number, a struct of another size */
  ROOFLUA_CLOSED = -3,  /* the handle is NULL, closed, or of another thread */
  ROOFLUA_MEMORY = -4   /* memory has run out */
};

/* Opaque. Their values are numbers and not addresses of anything. */
typedef struct rooflua_pricer rooflua_pricer;
typedef struct rooflua_run rooflua_run;

/* A chunk of a prompt. */
typedef struct rooflua_prefill {
  int32_t new_tokens;     /* computed in this step, >= 1 */
  int32_t context_tokens; /* before them in the KV cache, >= 0 */
  int32_t unfinished;     /* 1: further chunks follow, so that no token is sampled; else 0 */
} rooflua_prefill;

/* One step of one rank. A field that is 0 or NULL says nothing, so that most are left out. */
typedef struct rooflua_batch {
  size_t size;                     /* sizeof(rooflua_batch) */
  const rooflua_prefill *prefills; /* prefill_count of them */
  int32_t prefill_count;           /* at most 1,000,000 */
  int32_t decodes;                 /* requests that decode, at most 1,000,000 */
  /* Tokens in the KV cache before the step: of each decode, else their sum. A model that reads
   * a bounded context, and a largest one, are priced from the mean where only the sum is given. */
  const int32_t *decode_contexts;
  int64_t decode_context_tokens; /* where decode_contexts is NULL; at most 2^53 */
  int64_t decode_context_max;    /* where decode_contexts is NULL; 0: the mean, rounded up */
  /* Speculation: a decode is a row of 1 + k tokens, its pending token and k drafts to verify. */
  const int32_t *decode_widths; /* 1 + k of each decode, else their sum */
  int64_t decode_tokens;        /* where decode_widths is NULL; 0: one of each decode */
  int32_t draft_rows;           /* requests that get drafts for the next step */
  int32_t draft_tokens;         /* how many drafts they get together */
  int32_t draft_passes;         /* most drafts of one request */
  /* Data-parallel ranks that step together, this one included; ranks 0: the rank is alone. */
  int32_t ranks;
  int32_t ranks_tokens;     /* of all ranks */
  int32_t ranks_max_tokens; /* of the rank with most */
  int32_t ranks_prefills;   /* ranks that prefill */
} rooflua_batch;

/* The memory of one GPU, as the engine divides it. */
typedef struct rooflua_memory {
  size_t size;                 /* sizeof(rooflua_memory), set by the caller */
  int64_t kv_tokens;           /* that the KV cache holds; -1: no layer keeps KV that grows */
  int64_t kv_blocks;           /* -1: as above */
  int64_t block_size;          /* tokens of a block */
  int64_t max_num_seqs;        /* requests of a step */
  int64_t max_num_batched_tokens;
  int64_t max_model_len;
  double total_bytes;          /* of the GPU */
  double budget_bytes;         /* that the engine may use */
  double kv_bytes;             /* of them, for the KV cache */
  int32_t starts;              /* 1: the engine starts; 0: see text */
  char text[512];              /* why it does not start, or the error; else "" */
} rooflua_memory;

/* Opens a scenario of kind "price" or "serve".
 *
 * scenario_path   its file; NULL: the overrides are all of it (model, hardware, ...)
 * overrides_json  an object: keys as in --set ({"deployment.tp": 2}), or NULL; "command" is a
 *                 launch command in place of model, engine and deployment; "set" is a list of
 *                 texts as --set takes them ("deployment.tp=2")
 * error           gets the message of a failure; may be NULL
 * returns         NULL on failure */
rooflua_pricer *rooflua_open(const char *scenario_path, const char *overrides_json, char *error,
                             size_t error_bytes);

/* Seconds of a batch: the same number as `rooflua step` says. */
int rooflua_price(rooflua_pricer *pricer, const rooflua_batch *batch, double *seconds, char *error,
                  size_t error_bytes);

/* The price operation by operation, as JSON: an entry of `price` of docs/schema/result.json, and
 * `notes` on what it rests on.
 *
 * returns  the bytes of the whole JSON without its NUL; if this is not below `bytes`, the text was
 *          cut: ask again with more. Below 0 an error, and `json` has {"error": "..."} */
int rooflua_explain(rooflua_pricer *pricer, const rooflua_batch *batch, char *json, size_t bytes);

/* How many tokens fit, as `rooflua capacity` says. */
int rooflua_capacity(rooflua_pricer *pricer, rooflua_memory *memory);

/* Frees a pricer. NULL, a closed pricer and one of another thread are left alone. What a thread
 * has not closed is freed when the thread ends. */
void rooflua_close(rooflua_pricer *pricer);

/* Opens a scenario of kind "serve" as a simulation at time 0, without `vary` and `sweep`.
 *
 * scenario_path   its file; NULL: the overrides are all of it
 * overrides_json  as for rooflua_open; a policy is an object with its name and its parameters:
 *                 {"workload": {"name": "poisson", "rate_per_s": 5}}
 * error           gets the message of a failure; may be NULL
 * returns         NULL on failure */
rooflua_run *rooflua_run_open(const char *scenario_path, const char *overrides_json, char *error,
                              size_t error_bytes);

/* Goes on up to the end of a step, so many times (>= 1): of the replica whose step ends next. Steps
 * that end at one time end together.
 *
 * returns  1: something is left to happen; 0: all is over. Below 0 an error. After an error of a
 *          policy the run cannot go on, and says so: a fork made before can */
int rooflua_run_step(rooflua_run *run, int32_t steps, char *error, size_t error_bytes);

/* Goes on with every event up to this time of its clock, in seconds, >= 0; of INFINITY, to the end.
 * Nothing interrupts it: take several times where a workload may not end.
 *
 * returns  as rooflua_run_step */
int rooflua_run_until(rooflua_run *run, double time_s, char *error, size_t error_bytes);

/* Where its clock stands, in seconds. */
int rooflua_run_now(rooflua_run *run, double *now_s, char *error, size_t error_bytes);

/* The present as JSON:
 *
 *     now_s     its clock
 *     over      whether nothing is left to happen
 *     requests  {arrived, ended, live, outcomes}: how many were sent; how many ended in which way
 *     replicas  of each its name, waiting and running (lists of requests with id, phase,
 *               prompt_tokens, context_tokens, emitted_tokens, ...), free_blocks, total_blocks,
 *               block_size (tokens), decodes, outstanding, planned_steps, ...
 *
 * returns  the bytes of the whole JSON without its NUL; if this is not below `bytes`, the text was
 *          cut: ask again with more. Below 0 an error, and `json` has {"error": "..."} */
int rooflua_run_state(rooflua_run *run, char *json, size_t bytes);

/* An independent copy of the present: same policies in the same state, same random numbers, same
 * future. It belongs to the same thread, and goes on when the original is closed.
 *
 * returns  NULL on failure: a policy keeps what cannot be copied */
rooflua_run *rooflua_run_fork(rooflua_run *run, char *error, size_t error_bytes);

/* The results so far, as `rooflua run --json` writes them: docs/schema/result.json. Where something
 * is left to happen, the variant has `partial`, stopped by "caller".
 *
 * returns  as rooflua_run_state */
int rooflua_run_result(rooflua_run *run, char *json, size_t bytes);

/* Frees a run; its forks stay. Otherwise as rooflua_close. */
void rooflua_run_close(rooflua_run *run);

#ifdef __cplusplus
}
#endif

#endif /* ROOFLUA_H */
