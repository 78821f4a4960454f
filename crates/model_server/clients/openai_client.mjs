// The official OpenAI client for Node against the model server: chat completions and Responses. It makes the same
// checks as the one for Python, and must come to the same lines.

import OpenAI from "openai";

const bases = Object.fromEntries(
  process.env.MODEL_SERVER_BASES.trim().split("\n").map((line) => line.split(" ")),
);
const client = new OpenAI({ baseURL: bases.chat, apiKey: "sk-test", maxRetries: 0 });

const QUESTION = "Is anybody there?";
const SYSTEM = "Answer in one sentence.";
const RESULT = "3 lines";
const PARAMETERS = {
  type: "object",
  properties: { path: { type: "string" }, lines: { type: "integer", minimum: 3 } },
  required: ["path", "lines"],
  additionalProperties: false,
};
const ANSWER = {
  type: "object",
  properties: { verdict: { type: "string", enum: ["met", "open"] }, count: { type: "integer" } },
  required: ["verdict", "count"],
  additionalProperties: false,
};
const messages = [
  { role: "system", content: SYSTEM },
  { role: "user", content: QUESTION },
];
const flatTool = {
  type: "function",
  name: "count_lines",
  description: "Counts lines",
  parameters: PARAMETERS,
  strict: true,
};
const { type: _, ...chatFunction } = flatTool;
const chatTool = { type: "function", function: chatFunction };
const flatFormat = { format: { type: "json_schema", name: "answer", schema: ANSWER, strict: true } };
const chatFormat = { type: "json_schema", json_schema: { name: "answer", schema: ANSWER, strict: true } };

function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value ?? null;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

async function check(name, make) {
  let value;
  try {
    value = await make();
  } catch (error) {
    value = `raised ${error.constructor.name}: ${error.message}`;
  }
  console.log(`${name}: ${JSON.stringify(sorted(value))}`);
}

const chatUsage = (usage) => [
  usage.prompt_tokens,
  usage.prompt_tokens_details.cached_tokens,
  usage.completion_tokens,
  usage.completion_tokens_details.reasoning_tokens,
];

const usageOf = (usage) => [
  usage.input_tokens,
  usage.input_tokens_details.cached_tokens,
  usage.output_tokens,
  usage.output_tokens_details.reasoning_tokens,
];

async function chat() {
  const answer = await client.chat.completions.create({ model: "hello", messages });
  const { message, finish_reason } = answer.choices[0];
  return [message.content, message.reasoning_content, finish_reason, chatUsage(answer.usage)];
}

async function chatStream() {
  let [text, thought, reason, usage] = ["", "", null, null];
  const stream = await client.chat.completions.create({
    model: "hello",
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage;
    for (const choice of chunk.choices) {
      text += choice.delta.content ?? "";
      thought += choice.delta.reasoning_content ?? "";
      reason = choice.finish_reason ?? reason;
    }
  }
  return [text, thought, reason, chatUsage(usage)];
}

async function chatTools() {
  const request = { model: "tools", messages, tools: [chatTool] };
  const answer = await client.chat.completions.create(request);
  const { message, finish_reason } = answer.choices[0];
  const call = message.tool_calls[0];
  const first = [call.function.name, JSON.parse(call.function.arguments), finish_reason];
  const answered = [
    ...messages,
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: call.id, content: RESULT },
  ];
  const second = await client.chat.completions.create({ ...request, messages: answered });
  return [first, [second.choices[0].message.content, second.choices[0].finish_reason]];
}

async function chatToolsStream() {
  let pieces = 0;
  const stream = client.chat.completions.stream({ model: "tools", messages, tools: [chatTool] });
  stream.on("tool_calls.function.arguments.delta", () => (pieces += 1));
  const answer = await stream.finalChatCompletion();
  const call = answer.choices[0].message.tool_calls[0];
  const { finish_reason } = answer.choices[0];
  return [call.function.name, JSON.parse(call.function.arguments), finish_reason, pieces > 1];
}

async function chatSchema() {
  const request = { model: "schema", messages, response_format: chatFormat };
  const answer = await client.chat.completions.create(request);
  return JSON.parse(answer.choices[0].message.content);
}

async function responses() {
  const answer = await client.responses.create({ model: "hello", instructions: SYSTEM, input: QUESTION });
  const kinds = answer.output.map((item) => item.type);
  const thought = answer.output[0].summary[0].text;
  return [answer.output_text, kinds, thought, answer.status, usageOf(answer.usage)];
}

async function responsesStream() {
  let [text, thought] = ["", ""];
  const kinds = [];
  const stream = client.responses.stream({ model: "hello", instructions: SYSTEM, input: QUESTION });
  for await (const event of stream) {
    if (kinds.at(-1) !== event.type) kinds.push(event.type);
    if (event.type === "response.output_text.delta") text += event.delta;
    if (event.type === "response.reasoning_summary_text.delta") thought += event.delta;
  }
  const answer = await stream.finalResponse();
  return [text, thought, answer.output_text === text, answer.status, usageOf(answer.usage), kinds];
}

async function responsesTools() {
  const request = { model: "tools", input: QUESTION, tools: [flatTool] };
  const answer = await client.responses.create(request);
  const { type, name, call_id, arguments: text } = answer.output[0];
  const items = [
    { role: "user", content: QUESTION },
    { type: "function_call", call_id, name, arguments: text },
    { type: "function_call_output", call_id, output: RESULT },
  ];
  const second = await client.responses.create({ ...request, input: items });
  return [[type, name, JSON.parse(text)], [second.output_text, second.status]];
}

async function responsesToolsStream() {
  let [text, pieces] = ["", 0];
  const stream = client.responses.stream({ model: "tools", input: QUESTION, tools: [flatTool] });
  for await (const event of stream) {
    if (event.type === "response.function_call_arguments.delta") {
      text += event.delta;
      pieces += 1;
    }
  }
  const call = (await stream.finalResponse()).output[0];
  return [call.name, JSON.parse(call.arguments), text === call.arguments, pieces > 1];
}

async function responsesSchema() {
  const answer = await client.responses.create({ model: "schema", input: QUESTION, text: flatFormat });
  return JSON.parse(answer.output_text);
}

async function refused(ask) {
  try {
    await ask();
  } catch (error) {
    return [error.status, error.type, error.code, error.headers.get("retry-after")];
  }
  return "not refused";
}

async function brokenStream() {
  let text = "";
  try {
    const request = { model: "error_after_text", messages, stream: true };
    for await (const chunk of await client.chat.completions.create(request)) {
      text += chunk.choices[0].delta.content ?? "";
    }
  } catch (error) {
    return [text, "raised", error.code];
  }
  return [text, "not raised"];
}

await check("chat", chat);
await check("chat stream", chatStream);
await check("chat tools", chatTools);
await check("chat tools stream", chatToolsStream);
await check("chat schema", chatSchema);
await check("responses", responses);
await check("responses stream", responsesStream);
await check("responses tools", responsesTools);
await check("responses tools stream", responsesToolsStream);
await check("responses schema", responsesSchema);
await check("models", async () => (await client.models.list()).data.map((model) => model.id));
await check("model", async () => (await client.models.retrieve("hello")).id);
for (const model of [
  "context_too_long",
  "unauthorized",
  "quota_spent_as_429",
  "model_not_found",
  "rate_limited_seconds",
]) {
  await check(`chat ${model}`, () => refused(() => client.chat.completions.create({ model, messages })));
  await check(`responses ${model}`, () => refused(() => client.responses.create({ model, input: QUESTION })));
}
await check("chat error_after_text", brokenStream);
