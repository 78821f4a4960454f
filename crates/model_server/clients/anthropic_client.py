"""The official Anthropic client for Python against the model server."""

import json

from anthropic import Anthropic, APIStatusError

from report import ANSWER, PARAMETERS, QUESTION, RESULT, SYSTEM, bases, check

client = Anthropic(base_url=bases()["anthropic"], api_key="sk-ant-test", max_retries=0)
messages = [{"role": "user", "content": QUESTION}]
tool = {"name": "count_lines", "description": "Counts lines", "input_schema": PARAMETERS}
common = {"max_tokens": 4000, "messages": messages}


def usage_of(usage):
    return [usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens]


def blocks(message):
    return [[block.type, getattr(block, "text", None) or getattr(block, "thinking", None)] for block in message.content]


def message():
    answer = client.messages.create(model="hello", system=SYSTEM, **common)
    return [blocks(answer), answer.stop_reason, usage_of(answer.usage)]


def message_stream():
    text, thought, kinds = "", "", []
    with client.messages.stream(model="hello", system=SYSTEM, **common) as stream:
        for event in stream:
            if not kinds or kinds[-1] != event.type:
                kinds.append(event.type)
            if event.type == "text":
                text += event.text
            if event.type == "thinking":
                thought += event.thinking
        answer = stream.get_final_message()
    signed = bool(answer.content[0].signature)
    return [text, thought, blocks(answer), answer.stop_reason, usage_of(answer.usage), signed, kinds]


def tools():
    answer = client.messages.create(model="tools", tools=[tool], **common)
    call = answer.content[0]
    first = [call.type, call.name, call.input, answer.stop_reason]
    result = {"type": "tool_result", "tool_use_id": call.id, "content": RESULT}
    answered = messages + [
        {"role": "assistant", "content": answer.content},
        {"role": "user", "content": [result]},
    ]
    second = client.messages.create(model="tools", tools=[tool], max_tokens=4000, messages=answered)
    return [first, [blocks(second), second.stop_reason]]


def tools_stream():
    pieces = 0
    with client.messages.stream(model="tools", tools=[tool], **common) as stream:
        for event in stream:
            pieces += event.type == "input_json"
        answer = stream.get_final_message()
    call = answer.content[0]
    return [call.name, call.input, answer.stop_reason, pieces > 1]


def schema():
    config = {"format": {"type": "json_schema", "schema": ANSWER}}
    answer = client.messages.create(model="schema", extra_body={"output_config": config}, **common)
    return json.loads(answer.content[0].text)


def refused(model):
    def make():
        try:
            client.messages.create(model=model, **common)
        except APIStatusError as error:
            body = error.body["error"]
            return [type(error).__name__, error.status_code, body["type"], error.response.headers.get("retry-after")]
        return "not refused"

    return make


def broken_stream():
    text = ""
    try:
        with client.messages.stream(model="error_after_text", **common) as stream:
            for piece in stream.text_stream:
                text += piece
    except Exception as error:
        return [text, "raised", error.body["error"]["type"]]
    return [text, "not raised"]


check("message", message)
check("message stream", message_stream)
check("tools", tools)
check("tools stream", tools_stream)
check("schema", schema)
check("models", lambda: [model.id for model in client.models.list()])
check("model", lambda: client.models.retrieve("hello").id)
for fault in ["context_too_long", "unauthorized", "quota_spent", "model_not_found", "rate_limited_seconds", "overloaded"]:
    check(fault, refused(fault))
check("error_after_text", broken_stream)
