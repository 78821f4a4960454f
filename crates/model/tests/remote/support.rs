//! A model behind each wire, and a question for it.

use std::sync::Arc;

use serde_json::json;
use setpoint_machine::brief::{ExecuteBrief, ReportBrief};
use setpoint_machine::model_call::ModelLimits;
use setpoint_machine::prompt::Instruction;
use setpoint_machine::{Brief, ModelCall, Prompt};
use setpoint_model::remote::{Endpoint, Remote, base};
use setpoint_model::wire::Dialect;
use setpoint_model::{ModelError, Progress};
use setpoint_model_server::Wire;
use setpoint_protocol::Any;
use setpoint_protocol::message::EndedBy;
use setpoint_protocol::record::{Part, Reply};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;

static STANDING: Instruction = Instruction::new("Answer in one word.");

/// The dialect of a wire.
pub(crate) fn dialect(wire: Wire) -> Dialect {
    match wire {
        Wire::Chat => Dialect::Chat,
        Wire::Responses => Dialect::Responses,
        Wire::Anthropic => Dialect::Anthropic,
        Wire::Gemini => Dialect::Gemini,
        Wire::Ollama => Dialect::Ollama,
    }
}

/// A model at this address, with a key.
pub(crate) fn endpoint(wire: Wire, address: &str, is_streamed: bool) -> Endpoint {
    let base = base::normalised(dialect(wire), address).unwrap();
    let mut endpoint = Endpoint::new("the-model".to_owned(), dialect(wire), base, "test-model".to_owned());
    endpoint.key = Some("sk-very-secret-0123456789".to_owned().into());
    endpoint.is_streamed = is_streamed;
    endpoint
}

/// The same, ready to be asked.
pub(crate) fn remote(wire: Wire, address: &str, is_streamed: bool) -> Remote {
    Remote::new(endpoint(wire, address, is_streamed), || 0).unwrap()
}

/// A server that answers a path and a body with a status and a body, for what no model server says. It stops when its
/// task is dropped with the runtime.
pub(crate) async fn canned(
    answer: impl Fn(&str, &str) -> (u16, String) + Send + Sync + 'static,
) -> (String, tokio::task::JoinHandle<()>) {
    raw(move |path, body| {
        let (status, text) = answer(path, body);
        let length = text.len();
        format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{text}"
        )
    })
    .await
}

/// The same with all that it answers in its hands. It leaves a connection open until the other side closes it.
pub(crate) async fn raw(
    answer: impl Fn(&str, &str) -> String + Send + Sync + 'static,
) -> (String, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    let serving = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let answer = Arc::clone(&answer);
            tokio::spawn(async move {
                let mut stream = BufReader::new(stream);
                let (mut head, mut length) = (String::new(), 0);
                loop {
                    let from = head.len();
                    if stream.read_line(&mut head).await.unwrap_or(0) <= 2 {
                        break;
                    }
                    let line = head.split_at(from).1.to_lowercase();
                    if let Some(value) = line.strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                }
                let mut body = vec![0; length];
                stream.read_exact(&mut body).await.unwrap();
                let path = head.split(' ').nth(1).unwrap_or_default();
                let answer = answer(path, &String::from_utf8(body).unwrap());
                // A client that has read enough closes.
                let _written = stream.write_all(answer.as_bytes()).await;
                let _closed = stream.read(&mut [0]).await;
            });
        }
    });
    (address, serving)
}

/// A question without tools, or R3's with two.
pub(crate) fn question(has_tools: bool) -> ModelCall {
    let brief = if has_tools { execute() } else { report() };
    let prompt = Prompt::default().system("standing", &STANDING).task("work", "Which colour?", 1_000);
    ModelCall { brief, prompt, schema: None, limits: ModelLimits::default() }
}

fn report() -> Brief {
    Brief::Report(Box::new(ReportBrief {
        spec: serde_json::from_value(json!({ "intent": "x", "constraints": {}, "raw_input": "x" })).unwrap(),
        ended_by: EndedBy::Omega,
        reason: String::new(),
        subtask_verdicts: vec![],
        unmet_criteria: vec![],
        verdicts: vec![],
        partial_output: Any::NULL,
    }))
}

fn execute() -> Brief {
    let tools = ["list_dir", "read_file"].map(|name| {
        let spec = json!({
            "name": name, "description": format!("Does {name}."), "class": "read",
            "input_schema": { "type": "object", "properties": { "path": { "type": "string" } } },
        });
        Arc::new(serde_json::from_value(spec).unwrap())
    });
    let subtask = json!({
        "subtask_id": "00000000-0000-7000-8000-000000000001", "intent": "look", "success_criteria": [],
        "context": "", "inputs": [], "sequence": 1, "tools": [],
        "limits": { "blocked_tools": [], "blocked_targets": [], "caution_tools": [] }, "fingerprint": "f",
    });
    Brief::Execute(Box::new(ExecuteBrief {
        words: String::new(),
        subtask: serde_json::from_value(subtask).unwrap(),
        attempt: 1,
        turns: vec![],
        loadable: vec![],
        tools: tools.into(),
        calls: vec![],
        notices: vec![],
        rounds_left: 3,
        surroundings: Arc::default(),
    }))
}

/// Asks once.
pub(crate) async fn ask(remote: &Remote, has_tools: bool) -> Result<Reply, ModelError> {
    use setpoint_model::Model as _;
    remote.answer(&question(has_tools), &Progress::none()).await
}

/// What came, in a line.
pub(crate) fn shown(answer: &Result<Reply, ModelError>) -> String {
    match answer {
        Ok(reply) => {
            let parts = reply.parts.iter().map(|part| match part {
                Part::Text(text) => format!("text {}", short(text)),
                Part::ToolCall(call) => {
                    format!("call {} {}", short(&call.tool), short(&call.input.to_text()))
                }
                Part::Opaque(opaque) => format!("kept {}", short(&opaque.body)),
            });
            let mut parts: Vec<String> = parts.collect();
            let count = parts.len();
            if count > 3 {
                parts.truncate(1);
                parts.push(format!("… {count} parts"));
            }
            if parts.is_empty() {
                parts.push("nothing".to_owned());
            }
            let cut = if reply.is_cut { ", cut" } else { "" };
            format!("ok: {}{cut}", parts.join(", "))
        }
        Err(error) => {
            let again = match error.again_after {
                Some(wait) if wait.is_zero() => "again: ".to_owned(),
                Some(wait) => format!("again after {} s: ", wait.as_secs()),
                None => String::new(),
            };
            format!("{:?}: {again}{}", error.failure.kind, error.failure.reason)
        }
    }
}

fn short(text: &str) -> String {
    format!("{:?}", setpoint_protocol::text::clip(text, 60))
}
