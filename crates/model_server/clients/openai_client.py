"""The official OpenAI client for Python against the model server: chat completions and Responses."""

import json

from openai import APIStatusError, OpenAI

from report import ANSWER, PARAMETERS, QUESTION, RESULT, SYSTEM, bases, check

client = OpenAI(base_url=bases()["chat"], api_key="sk-test", max_retries=0)
messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]
chat_tool = {
    "type": "function",
    "function": {"name": "count_lines", "description": "Counts lines", "parameters": PARAMETERS, "strict": True},
}
flat_tool = {
    "type": "function",
    "name": "count_lines",
    "description": "Counts lines",
    "parameters": PARAMETERS,
    "strict": True,
}
chat_format = {"type": "json_schema", "json_schema": {"name": "answer", "schema": ANSWER, "strict": True}}
flat_format = {"format": {"type": "json_schema", "name": "answer", "schema": ANSWER, "strict": True}}


def chat_usage(usage):
    return [
        usage.prompt_tokens,
        usage.prompt_tokens_details.cached_tokens,
        usage.completion_tokens,
        usage.completion_tokens_details.reasoning_tokens,
    ]


def usage_of(usage):
    return [
        usage.input_tokens,
        usage.input_tokens_details.cached_tokens,
        usage.output_tokens,
        usage.output_tokens_details.reasoning_tokens,
    ]


def chat():
    answer = client.chat.completions.create(model="hello", messages=messages)
    choice = answer.choices[0]
    thought = choice.message.model_extra["reasoning_content"]
    return [choice.message.content, thought, choice.finish_reason, chat_usage(answer.usage)]


def chat_stream():
    text, thought, reason, usage = "", "", None, None
    stream = client.chat.completions.create(
        model="hello", messages=messages, stream=True, stream_options={"include_usage": True}
    )
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            thought += (choice.delta.model_extra or {}).get("reasoning_content", "")
            reason = choice.finish_reason or reason
    return [text, thought, reason, chat_usage(usage)]


def chat_second_turn(call):
    answered = messages + [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": RESULT},
    ]
    answer = client.chat.completions.create(model="tools", messages=answered, tools=[chat_tool])
    return [answer.choices[0].message.content, answer.choices[0].finish_reason]


def chat_tools():
    answer = client.chat.completions.create(model="tools", messages=messages, tools=[chat_tool])
    call = answer.choices[0].message.tool_calls[0]
    first = [call.function.name, json.loads(call.function.arguments), answer.choices[0].finish_reason]
    return [first, chat_second_turn(call.model_dump())]


def chat_tools_stream():
    with client.chat.completions.stream(model="tools", messages=messages, tools=[chat_tool]) as stream:
        pieces = sum(1 for event in stream if event.type == "tool_calls.function.arguments.delta")
        answer = stream.get_final_completion()
    call = answer.choices[0].message.tool_calls[0]
    return [call.function.name, json.loads(call.function.arguments), answer.choices[0].finish_reason, pieces > 1]


def chat_schema():
    answer = client.chat.completions.create(model="schema", messages=messages, response_format=chat_format)
    return json.loads(answer.choices[0].message.content)


def responses():
    answer = client.responses.create(model="hello", instructions=SYSTEM, input=QUESTION)
    kinds = [item.type for item in answer.output]
    return [answer.output_text, kinds, answer.output[0].summary[0].text, answer.status, usage_of(answer.usage)]


def responses_stream():
    text, thought, kinds = "", "", []
    with client.responses.stream(model="hello", instructions=SYSTEM, input=QUESTION) as stream:
        for event in stream:
            if not kinds or kinds[-1] != event.type:
                kinds.append(event.type)
            if event.type == "response.output_text.delta":
                text += event.delta
            if event.type == "response.reasoning_summary_text.delta":
                thought += event.delta
        answer = stream.get_final_response()
    return [text, thought, answer.output_text == text, answer.status, usage_of(answer.usage), kinds]


def responses_second_turn(call):
    items = [
        {"role": "user", "content": QUESTION},
        {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments},
        {"type": "function_call_output", "call_id": call.call_id, "output": RESULT},
    ]
    answer = client.responses.create(model="tools", input=items, tools=[flat_tool])
    return [answer.output_text, answer.status]


def responses_tools():
    answer = client.responses.create(model="tools", input=QUESTION, tools=[flat_tool])
    call = answer.output[0]
    return [[call.type, call.name, json.loads(call.arguments)], responses_second_turn(call)]


def responses_tools_stream():
    arguments, pieces = "", 0
    with client.responses.stream(model="tools", input=QUESTION, tools=[flat_tool]) as stream:
        for event in stream:
            if event.type == "response.function_call_arguments.delta":
                arguments, pieces = arguments + event.delta, pieces + 1
        call = stream.get_final_response().output[0]
    return [call.name, json.loads(call.arguments), arguments == call.arguments, pieces > 1]


def responses_schema():
    return json.loads(client.responses.create(model="schema", input=QUESTION, text=flat_format).output_text)


def refused(model, ask):
    def make():
        try:
            ask(model)
        except APIStatusError as error:
            return [error.status_code, error.type, error.code, error.response.headers.get("retry-after")]
        return "not refused"

    return make


def ask_chat(model):
    client.chat.completions.create(model=model, messages=messages)


def ask_responses(model):
    client.responses.create(model=model, input=QUESTION)


def broken_stream():
    text = ""
    try:
        for chunk in client.chat.completions.create(model="error_after_text", messages=messages, stream=True):
            text += chunk.choices[0].delta.content or ""
    except Exception as error:
        return [text, "raised", error.body["code"]]
    return [text, "not raised"]


check("chat", chat)
check("chat stream", chat_stream)
check("chat tools", chat_tools)
check("chat tools stream", chat_tools_stream)
check("chat schema", chat_schema)
check("responses", responses)
check("responses stream", responses_stream)
check("responses tools", responses_tools)
check("responses tools stream", responses_tools_stream)
check("responses schema", responses_schema)
check("models", lambda: [model.id for model in client.models.list()])
check("model", lambda: client.models.retrieve("hello").id)
for fault in ["context_too_long", "unauthorized", "quota_spent_as_429", "model_not_found", "rate_limited_seconds"]:
    check(f"chat {fault}", refused(fault, ask_chat))
    check(f"responses {fault}", refused(fault, ask_responses))
check("chat error_after_text", broken_stream)
