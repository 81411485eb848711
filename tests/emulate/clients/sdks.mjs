// The clients of OpenAI and Anthropic, and autocannon, against an emulated server: node sdks.mjs URL
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import autocannon from "autocannon";

const url = process.argv[2];
const openai = new OpenAI({ baseURL: url + "/v1", apiKey: "none", maxRetries: 0, timeout: 20000 });
const anthropic = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0, timeout: 20000 });
const model = (await openai.models.list()).data[0].id;
const user = [{ role: "user", content: "What is the weather in Paris?" }];
const parameters = { type: "object", properties: { city: { type: "string", enum: ["Paris"] }, days: { type: "integer", minimum: 1 } },
  required: ["city", "days"] };

const tests = {
  async "completions are whole"() {
    const answer = await openai.completions.create({ model, prompt: [1, 2, 3, 4], max_tokens: 7, ignore_eos: true });
    assert.equal(answer.usage.prompt_tokens, 4);
    assert.equal(answer.usage.completion_tokens, 7);
    assert.equal(answer.choices[0].text, " a".repeat(7));
    assert.equal(answer.choices[0].finish_reason, "length");
  },
  async "chat streams 20 tokens, then its usage"() {
    const stream = await openai.chat.completions.create({ model, messages: user, max_tokens: 20, ignore_eos: true, stream: true,
      stream_options: { include_usage: true } });
    let text = "", usage, reason;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta?.content ?? "";
      reason = chunk.choices[0]?.finish_reason ?? reason;
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, " a".repeat(20));
    assert.equal(reason, "length");
    assert.equal(usage.completion_tokens, 20);
  },
  async "chat calls a declared tool with arguments that fit"() {
    const tools = [{ type: "function", function: { name: "weather", parameters } }];
    for (const stream of [false, true]) {
      const runner = { model, messages: user, tools, tool_choice: "required", max_tokens: 50 };
      const answer = stream ? await openai.chat.completions.stream(runner).finalChatCompletion()
        : await openai.chat.completions.create(runner);
      const call = answer.choices[0].message.tool_calls[0];
      assert.equal(answer.choices[0].finish_reason, "tool_calls");
      assert.equal(call.function.name, "weather");
      assert.deepEqual(JSON.parse(call.function.arguments), { city: "Paris", days: 1 });
    }
  },
  async "tools are accepted however often, and some answers are text"() {
    const tools = [{ type: "function", function: { name: "weather", parameters } }];
    const answers = await Promise.all(Array.from({ length: 40 }, () =>
      openai.chat.completions.create({ model, messages: user, tools, max_tokens: 5 })));
    const calls = answers.filter((each) => each.choices[0].message.tool_calls).length;
    assert.ok(calls > 5 && calls < 35, `${calls} of 40 call a tool`);
  },
  async "responses stream and are whole"() {
    const stream = openai.responses.stream({ model, input: "hello", max_output_tokens: 9 });
    let text = "";
    for await (const event of stream) if (event.type === "response.output_text.delta") text += event.delta;
    const final = await stream.finalResponse();
    assert.equal(final.output_text, text);
    assert.equal(final.usage.output_tokens, text.length / 2);
    const whole = await openai.responses.create({ model, input: "hello", tool_choice: "required",
      tools: [{ type: "function", name: "weather", parameters, strict: true }] });
    assert.deepEqual(JSON.parse(whole.output[0].arguments), { city: "Paris", days: 1 });
  },
  async "messages stream with tools"() {
    const tools = [{ name: "weather", input_schema: parameters }];
    const stream = anthropic.messages.stream({ model, max_tokens: 40, messages: user, tools, tool_choice: { type: "any" } });
    let pieces = "";
    stream.on("inputJson", (piece) => { pieces += piece; });
    const message = await stream.finalMessage();
    assert.equal(message.stop_reason, "tool_use");
    assert.deepEqual(message.content[0].input, { city: "Paris", days: 1 });
    assert.deepEqual(JSON.parse(pieces), { city: "Paris", days: 1 });
    const after = await anthropic.messages.create({ model, max_tokens: 6, messages: [...user,
      { role: "assistant", content: message.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: message.content[0].id, content: "rain" }] }] });
    assert.equal(after.content[0].type, "text");
    assert.ok(after.usage.output_tokens <= 6);
    const counted = await anthropic.messages.countTokens({ model, messages: user });
    assert.ok(counted.input_tokens > 5);
  },
  async "the same beginning of a conversation hits the cache"() {
    const prompt = Array.from({ length: 400 }, (_, i) => i);
    await openai.completions.create({ model, prompt, max_tokens: 2 });
    const again = await openai.completions.create({ model, prompt: [...prompt, 1, 2, 3], max_tokens: 2 });
    assert.ok(again.usage.prompt_tokens_details.cached_tokens >= 384);
  },
  async "errors are those of the API"() {
    await assert.rejects(openai.chat.completions.create({ model: "other", messages: user }),
      (error) => error instanceof OpenAI.NotFoundError && /does not exist/.test(error.message));
    await assert.rejects(openai.completions.create({ model, prompt: "a", n: 2 }), OpenAI.BadRequestError);
    await assert.rejects(anthropic.messages.create({ model: "other", max_tokens: 5, messages: user }),
      (error) => error instanceof Anthropic.NotFoundError && error.error.error.type === "not_found_error");
  },
  async "autocannon with 100 connections gets only answers"() {
    const result = await autocannon({ url: url + "/v1/completions", connections: 100, amount: 1000, method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model, prompt: [1, 2, 3], max_tokens: 4, ignore_eos: true }), timeout: 20 });
    assert.equal(result["2xx"], 1000);
    assert.equal(result.errors + result.timeouts + result.non2xx, 0);
  },
  async "clients that leave leave nothing behind"() {
    const leaving = Array.from({ length: 200 }, async (_, i) => {
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 20 + 5 * (i % 40));
      const answer = async () => {
        const stream = await openai.completions.create({ model, prompt: [i, 2, 3], max_tokens: 100000, ignore_eos: true,
          stream: i % 2 === 0 }, { signal: controller.signal });
        for await (const chunk of stream) assert.ok(chunk);
      };
      // A stream that has begun ends without an error when its client leaves; anything else is rejected.
      await answer().catch((error) => assert.ok(controller.signal.aborted, String(error)));
      assert.ok(controller.signal.aborted, "the answer ended before its client left");
    });
    await Promise.all(leaving);
    await new Promise((resolve) => setTimeout(resolve, 500));
    const state = await (await fetch(url + "/admin/state")).json();
    assert.equal(state.streams, 0);
    for (const replica of state.replicas) assert.equal(replica.running + replica.waiting + replica.used_blocks, 0);
  },
};

setTimeout(() => { console.error("sdks.mjs: more than 120 s"); process.exit(3); }, 120000).unref();
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log("passed: " + name);
  } catch (error) {
    failed += 1;
    console.log("FAILED: " + name + "\n" + (error.stack ?? error));
  }
}
process.exit(failed > 0 ? 1 : 0);
