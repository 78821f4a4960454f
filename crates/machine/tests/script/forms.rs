use expect_test::expect;
use setpoint_machine::script::run;

use crate::toys::{Sender, echo, setup};

#[test]
fn settings_reach_the_context() {
    let script = "\
# each setting holds from its line on
> quiesced
= clock 1500
= now 2027-02-03T04:05:06Z
= slug count_go_files
= grant d1
= grant d2
> quiesced
= spec
= clock 1750
> quiesced
";
    expect![[r##"
        # each setting holds from its line on
        > quiesced
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-7c42-9934-175dc715f63c","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":"quiesced","now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
        = clock 1500
        = now 2027-02-03T04:05:06Z
        = slug count_go_files
        = grant d1
        = grant d2
        > quiesced
        < ExecutionResult {"subtask_id":"01a3795e-1550-77f1-96a2-85eaa7d92c5d","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":1500,"elapsed_ms":0,"grants":["d1","d2"],"heard":"quiesced","now":"2027-02-03T04:05:06.000000Z","slug":"count_go_files"},"tool_calls":[]}
        = spec
        = clock 1750
        > quiesced
        < ExecutionResult {"subtask_id":"01a3795e-1550-7379-853e-2749f1afe452","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":1750,"elapsed_ms":250,"grants":["d1","d2"],"heard":"quiesced","now":"2027-02-03T04:05:06.000000Z","slug":"count_go_files"},"tool_calls":[]}
    "##]].assert_eq(&echo(script).unwrap());
}

#[test]
fn every_input_is_delivered() {
    let script = "\
> SubTask {\"subtask_id\": \"0195503a-1e00-7a3b-8c4d-5e6f708192a3\", \"intent\": \"count\",
    \"success_criteria\": [], \"context\": \"\",
\t\"sequence\": 1, \"fingerprint\": \"\"}
> ApprovalDecision {\"call_id\": \"r3.3/1\", \"decision\": \"once\", \"digest\": \"d1\", \"by\": \"terminal\"}
> reply r3.3/1 plain text
   on two lines
> reply r3.3/1 {\"text\": \"that is no reply\"}
> reply r3.3/1 {\"parts\": [{\"text\": \"a\"}, {\"tool_call\": {\"tool\": \"shell\"}}], \"usage\": {\"tokens_in\": 1, \"tokens_out\": 2}}
> failed r3.3/1 {\"kind\": \"timeout\", \"reason\": \"too slow\"}
> tool r3.3/2 {\"ok\": true, \"text\": \"3\", \"duration_ms\": 5}
> timer r3.3/3
> interrupted r3.3/4
> quiesced
";
    expect![[r#"
        > SubTask {"subtask_id": "0195503a-1e00-7a3b-8c4d-5e6f708192a3", "intent": "count",
            "success_criteria": [], "context": "",
        	"sequence": 1, "fingerprint": ""}
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-7c42-9934-175dc715f63c","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":{"subtask":"count"},"now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
        > ApprovalDecision {"call_id": "r3.3/1", "decision": "once", "digest": "d1", "by": "terminal"}
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-77f1-96a2-85eaa7d92c5d","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":{"approved":"d1"},"now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
        > reply r3.3/1 plain text
           on two lines
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-7379-853e-2749f1afe452","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":{"answer":"model: plain text\n   on two lines and 0 calls","call":"r3.3/1"},"now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
        > reply r3.3/1 {"text": "that is no reply"}
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-7b6c-861e-fde8294afae5","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":{"answer":"model: {\"text\": \"that is no reply\"} and 0 calls","call":"r3.3/1"},"now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
        > reply r3.3/1 {"parts": [{"text": "a"}, {"tool_call": {"tool": "shell"}}], "usage": {"tokens_in": 1, "tokens_out": 2}}
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-70e8-962a-9e509c569242","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":{"answer":"model: {\"parts\": [{\"text\": \"a\"}, {\"tool_call\": {\"tool\": \"shell\"}}], \"usage\": {\"tokens_in\": 1, \"tokens_out\": 2}} and 0 calls","call":"r3.3/1"},"now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
        > failed r3.3/1 {"kind": "timeout", "reason": "too slow"}
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-75f5-9704-bbcba7110b20","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":{"answer":"failed: too slow","call":"r3.3/1"},"now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
        > tool r3.3/2 {"ok": true, "text": "3", "duration_ms": 5}
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-79ee-b133-34c67553edde","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":{"answer":"tool: 3","call":"r3.3/2"},"now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
        > timer r3.3/3
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-7e13-bd47-f556b5a35840","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":{"answer":"timer","call":"r3.3/3"},"now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
        > interrupted r3.3/4
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-784f-8eac-36b2e48ceeaa","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":{"answer":"interrupted","call":"r3.3/4"},"now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
        > quiesced
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-7ad5-acdd-d48064420296","attempt":1,"status":"completed","output":{"asked":0,"clock_ms":0,"elapsed_ms":0,"grants":[],"heard":"quiesced","now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
    "#]].assert_eq(&echo(script).unwrap());
}

#[test]
fn every_effect_is_written() {
    let script = "\
= grant d1
> CorrectionSignal {\"subtask_id\": \"0195503a-1e00-7a3b-8c4d-5e6f708192a3\", \"attempt_number\": 1,
  \"failed_criterion\": \"\", \"what_was_wrong\": \"\", \"what_to_do\": \"\", \"failed_criteria\": []}
> quiesced
";
    expect![[r#"
        = grant d1
        > CorrectionSignal {"subtask_id": "0195503a-1e00-7a3b-8c4d-5e6f708192a3", "attempt_number": 1,
          "failed_criterion": "", "what_was_wrong": "", "what_to_do": "", "failed_criteria": []}
        < model r3.3/1 perceive in two\nlines
        < tool r3.3/2 {"tool":"shell","input":{"command":"ls"}}
        < tool r3.3/3 {"tool":"shell","input":{"command":"ls"}} under d1 with caution
        < probe r3.3/4 {"tool":"shell","input":{"command":"ls"}}
        < timer r3.3/5 500
        > quiesced
        < ExecutionResult {"subtask_id":"019b7ca9-8c88-77f1-96a2-85eaa7d92c5d","attempt":1,"status":"completed","output":{"asked":4,"clock_ms":0,"elapsed_ms":0,"grants":["d1"],"heard":"quiesced","now":"2026-01-02T03:04:05.000000Z","slug":""},"tool_calls":[]}
    "#]].assert_eq(&echo(script).unwrap());
    let script = "> TaskSpec {\"intent\": \"count\", \"raw_input\": \"count\"}\n";
    expect![[r#"
        > TaskSpec {"intent": "count", "raw_input": "count"}
        < SubTask to 7 {"subtask_id":"019b7ca9-8c88-7c42-9934-175dc715f63c","intent":"count","success_criteria":[],"context":"","sequence":1,"limits":{},"fingerprint":""}
        < MemoryQuery {"call_id":"r2/1","space":"intent:x","entity":"env:local","limit":10}
    "#]].assert_eq(&run(&mut Sender, script, setup(0)).unwrap());
}

#[test]
fn a_script_with_its_effects_runs_to_itself() {
    let script = "\
> CorrectionSignal {\"subtask_id\": \"0195503a-1e00-7a3b-8c4d-5e6f708192a3\", \"attempt_number\": 1,
  \"failed_criterion\": \"\", \"what_was_wrong\": \"\", \"what_to_do\": \"\", \"failed_criteria\": []}
< whatever stood here before

# and a comment
> quiesced
";
    let once = echo(script).unwrap();
    assert!(!once.contains("whatever"), "{once}");
    assert_eq!(echo(&once).unwrap(), once);
}
