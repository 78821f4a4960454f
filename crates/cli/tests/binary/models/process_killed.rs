//! A process that is killed while an answer is streamed to it, and the cost for the process that resumes the
//! task.

use std::sync::Arc;

use rustix::process::Signal;
use serde_json::json;
use setpoint_model_server::{Delay, Fault, Gate, Hosted, SeenRequest, Turn, Wire};

use crate::support::thinker::think;
use crate::support::{Came, Home};

use super::{command, plan, writes};

/// R1, R2, then per sub-task two turns and a judgement, one sub-task after the other, then R4b.
const CALLS: usize = 2 + 3 * 3 + 1;

#[test]
fn process_a_complete_answer_is_not_paid_for_twice() {
    let plan = plan(&[writes("alpha", 1), writes("beta", 2), writes("gamma", 3)]);
    for killed_at in 0..CALLS {
        let wire = Wire::ALL[killed_at % Wire::ALL.len()];
        let home = Home::new();
        let gate = Gate::new();
        let script = {
            let (plan, gate) = (plan.clone(), gate.clone());
            move |seen: &SeenRequest| -> Turn {
                let turn = think(seen, &plan);
                if seen.nth == killed_at {
                    turn.with(Fault::PauseInBody(Delay::Until(gate.clone())))
                } else {
                    turn
                }
            }
        };
        let server = Hosted::start(Arc::new(script)).unwrap();
        let arguments = ["run", "--json", "write three small files\none after the other"];
        let mut process = command(&home, &server, wire, &arguments).spawn().unwrap();
        server.wait_for(&gate, 1);
        rustix::process::kill_process(rustix::process::Pid::from_child(&process), Signal::KILL).unwrap();
        process.wait().unwrap();
        assert_eq!(server.seen().len(), killed_at + 1);

        let came = Came::of(&mut command(&home, &server, wire, &["tasks", "resume", "--json"]));
        let result = came.json()[0].take();
        let what = format!("killed at {killed_at} on {wire}: {came:#?}");
        assert_eq!((came.code, &result["ended_by"]), (0, &json!("criteria_met")), "{what}");
        // Every question was asked once, except for the interrupted one, which was asked twice.
        assert_eq!(server.seen().len(), CALLS + 1, "{what}");
        assert_eq!(result["usage"]["calls"], CALLS + 1, "{what}");
        let questions: Vec<_> = server.seen().iter().map(|seen| format!("{:?}", seen.asked)).collect();
        assert_eq!(questions[killed_at], questions[killed_at + 1], "{what}");
        let complete: i128 =
            server.served().iter().filter(|one| one.is_complete).filter_map(|one| one.input_tokens).sum();
        // The server may have begun to answer the interrupted question, which costs money: its tokens are
        // estimated and reported separately.
        let count = |name: &str| i128::from(result["usage"][name].as_u64().unwrap());
        assert_eq!(count("tokens_in") - count("tokens_lost"), complete, "{what}");
        assert!(count("tokens_lost") > 0, "{what}");
        let task = result["task_id"].as_str().unwrap().to_owned();
        let told = Came::of(&mut command(&home, &server, wire, &["tasks", "cost", &task, "--json"]));
        let told = told.json();
        let total = &told["cost"]["total"];
        for name in ["calls", "tokens_in", "tokens_out"] {
            assert_eq!(total[name], result["usage"][name], "{name}: {told:#} {what}");
        }
    }
}
