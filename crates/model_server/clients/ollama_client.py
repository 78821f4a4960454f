"""The official Ollama client for Python against the model server."""

import json

from ollama import Client, ResponseError

from report import ANSWER, PARAMETERS, QUESTION, RESULT, SYSTEM, bases, check

client = Client(host=bases()["ollama"])
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
tool = {
    "type": "function",
    "function": {"name": "count_lines", "description": "Counts lines", "parameters": PARAMETERS},
}


def counts(answer):
    return [answer.prompt_eval_count, answer.eval_count]


def chat():
    answer = client.chat(model="hello", messages=messages, options={"num_ctx": 8192})
    return [answer.message.content, answer.message.thinking, answer.done, answer.done_reason, counts(answer)]


def chat_stream():
    text, thought, last = "", "", None
    for part in client.chat(model="hello", messages=messages, stream=True):
        text += part.message.content or ""
        thought += part.message.thinking or ""
        last = part
    return [text, thought, last.done, last.done_reason, counts(last)]


def tools():
    answer = client.chat(model="tools", messages=messages, tools=[tool])
    call = answer.message.tool_calls[0]
    first = [call.function.name, call.function.arguments, answer.done_reason]
    answered = messages + [answer.message, {"role": "tool", "tool_name": call.function.name, "content": RESULT}]
    second = client.chat(model="tools", messages=answered, tools=[tool])
    return [first, [second.message.content, second.done_reason]]


def tools_stream():
    calls, last = [], None
    for part in client.chat(model="tools", messages=messages, tools=[tool], stream=True):
        calls += [[call.function.name, call.function.arguments] for call in part.message.tool_calls or []]
        last = part
    return [calls, last.done]


def schema():
    return json.loads(client.chat(model="schema", messages=messages, format=ANSWER).message.content)


def refused(model):
    def make():
        try:
            client.chat(model=model, messages=messages)
        except ResponseError as error:
            return [error.status_code, error.error]
        return "not refused"

    return make


def broken_stream():
    text = ""
    try:
        for part in client.chat(model="error_after_text", messages=messages, stream=True):
            text += part.message.content or ""
    except ResponseError as error:
        return [text, "raised", error.error]
    return [text, "not raised"]


def show():
    model = client.show("hello")
    return [model.modelinfo["llama.context_length"], model.capabilities]


check("chat", chat)
check("chat stream", chat_stream)
check("tools", tools)
check("tools stream", tools_stream)
check("schema", schema)
check("models", lambda: [model.model for model in client.list().models])
check("show", show)
for fault in ["context_too_long", "unauthorized", "model_not_found", "rate_limited_seconds", "malformed_arguments"]:
    check(fault, refused(fault))
check("error_after_text", broken_stream)
