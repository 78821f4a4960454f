"""The official Gemini client for Python against the model server."""

import json

from google import genai
from google.genai import errors, types

from report import ANSWER, PARAMETERS, QUESTION, RESULT, SYSTEM, bases, check

client = genai.Client(api_key="test", http_options=types.HttpOptions(base_url=bases()["gemini"]))
declaration = types.FunctionDeclaration(
    name="count_lines", description="Counts lines", parameters_json_schema=PARAMETERS
)
with_tool = types.GenerateContentConfig(
    tools=[types.Tool(function_declarations=[declaration])],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)
with_system = types.GenerateContentConfig(system_instruction=SYSTEM)


def usage_of(usage):
    return [
        usage.prompt_token_count,
        usage.cached_content_token_count,
        usage.candidates_token_count,
        usage.thoughts_token_count,
        usage.total_token_count,
    ]


def parts(answer):
    return [[part.thought, part.text] for part in answer.candidates[0].content.parts]


def reason(answer):
    return answer.candidates[0].finish_reason.name


def generate():
    answer = client.models.generate_content(model="hello", contents=QUESTION, config=with_system)
    return [answer.text, parts(answer), reason(answer), usage_of(answer.usage_metadata)]


def generate_stream():
    text, thought, last = "", "", None
    for chunk in client.models.generate_content_stream(model="hello", contents=QUESTION, config=with_system):
        for part in chunk.candidates[0].content.parts:
            if part.thought:
                thought += part.text
            else:
                text += part.text
        last = chunk
    return [text, thought, reason(last), usage_of(last.usage_metadata)]


def tools():
    answer = client.models.generate_content(model="tools", contents=QUESTION, config=with_tool)
    call = answer.function_calls[0]
    first = [call.name, call.args, reason(answer)]
    result = types.Part.from_function_response(name=call.name, response={"result": RESULT})
    contents = [
        types.Content(role="user", parts=[types.Part.from_text(text=QUESTION)]),
        answer.candidates[0].content,
        types.Content(role="user", parts=[result]),
    ]
    second = client.models.generate_content(model="tools", contents=contents, config=with_tool)
    return [first, [second.text, reason(second)]]


def tools_stream():
    calls, last = [], None
    for chunk in client.models.generate_content_stream(model="tools", contents=QUESTION, config=with_tool):
        calls += [[call.name, call.args] for call in chunk.function_calls or []]
        last = chunk
    return [calls, reason(last)]


def schema():
    config = types.GenerateContentConfig(response_mime_type="application/json", response_json_schema=ANSWER)
    answer = client.models.generate_content(model="schema", contents=QUESTION, config=config)
    return [json.loads(answer.text), answer.parsed == json.loads(answer.text)]


def refused(model):
    def make():
        try:
            client.models.generate_content(model=model, contents=QUESTION)
        except errors.APIError as error:
            details = error.details["error"].get("details", [])
            return [type(error).__name__, error.code, error.status, [d.get("retryDelay") or d.get("reason") for d in details]]
        return "not refused"

    return make


def malformed():
    answer = client.models.generate_content(model="malformed_arguments", contents=QUESTION, config=with_tool)
    return [reason(answer), answer.function_calls]


check("generate", generate)
check("generate stream", generate_stream)
check("tools", tools)
check("tools stream", tools_stream)
check("schema", schema)
check("models", lambda: [[model.name, model.input_token_limit] for model in client.models.list()])
check("model", lambda: client.models.get(model="hello").name)
for fault in ["context_too_long", "unauthorized_as_400", "quota_spent_as_429", "model_not_found", "rate_limited_seconds", "overloaded"]:
    check(fault, refused(fault))
check("malformed_arguments", malformed)
