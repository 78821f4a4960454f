//! Where memory's records come from: what a task learnt after it had read from elsewhere carries these sources, and so
//! does every task that recalls it.

use setpoint_journal::Prune;
use setpoint_protocol::record::{Answer, Answered};
use setpoint_protocol::tool::{Source, ToolAnswer};

use super::*;

/// A call's answer with text from a place.
fn read(source: Source) -> (&'static str, Vec<u8>) {
    let answer = ToolAnswer { ok: true, source: Some(source), ..ToolAnswer::default() };
    let answered = Answered::new("r3.1/1".parse().unwrap(), 1, Answer::Tool(Box::new(answer)));
    ("Answered", serde_json::to_vec(&answered).unwrap())
}

/// Memory's answer to a task.
fn recalled(after: Vec<Source>) -> (&'static str, Vec<u8>) {
    let reply = MemoryReply { after, ..setpoint_memory::unavailable("r2/1".parse().unwrap(), "") };
    ("MemoryReply", serde_json::to_vec(&reply).unwrap())
}

fn web(host: &str) -> Source {
    Source::Web(host.to_owned())
}

/// Returns what each record carries, by the number of its id.
fn carried(reply: &MemoryReply) -> Vec<(MegramId, Vec<String>)> {
    let mut all: Vec<_> = reply
        .records
        .iter()
        .map(|one| (one.id.clone(), one.after.iter().map(ToString::to_string).collect()))
        .collect();
    all.sort();
    all
}

#[test]
fn a_lesson_carries_what_its_task_had_read_elsewhere() {
    let home = Home::new();
    let journal = home.journal();
    let (before, after) = (of_intent(1, State::Accept), of_intent(2, State::Accept));
    task(&journal, 1, &[written(&before), read(web("a.example")), read(web("a.example")), written(&after)]);
    task(&journal, 2, &[read(Source::Server("wiki".to_owned())), written(&of_intent(3, State::Accept))]);
    // It had recalled what the first task learnt.
    task(&journal, 3, &[recalled(vec![web("a.example")]), written(&of_intent(4, State::Accept))]);
    task(&journal, 4, &[written(&of_intent(5, State::Accept))]);
    let memory = home.memory(&journal);
    let reply = ask(&memory);
    let expected = [
        (id(1), vec![]),
        (id(2), vec!["pages of a.example".to_owned()]),
        (id(3), vec!["the MCP server wiki".to_owned()]),
        (id(4), vec!["memory of pages of a.example".to_owned()]),
        (id(5), vec![]),
    ];
    assert_eq!(carried(&reply), expected);
    let told: Vec<String> = reply.sources().map(|source| source.to_string()).collect();
    assert_eq!(
        told,
        ["memory of pages of a.example", "memory of the MCP server wiki", "memory of pages of a.example"]
    );

    drop(memory);
    std::fs::remove_dir_all(home.memory_dir()).unwrap();
    let rebuilt = ask(&home.memory(&journal));
    assert_eq!((carried(&rebuilt), rebuilt.after), (expected.to_vec(), reply.after));
}

#[test]
fn a_rule_and_a_call_to_avoid_carry_the_sources_of_all_its_lessons() {
    let home = Home::new();
    let journal = home.journal();
    for n in 1..=6 {
        let source = if n == 3 { web("a.example") } else { Source::Server("wiki".to_owned()) };
        task(&journal, n, &[read(source), written(&of_intent(n as u32, State::Accept))]);
    }
    let memory = home.memory(&journal);
    assert_eq!(dream(&memory).unwrap().promoted.len(), 1);
    let reply = ask(&memory);
    assert_eq!((reply.rules.len(), reply.records.len()), (1, 0));
    assert_eq!(reply.after, [web("a.example"), Source::Server("wiki".to_owned())]);

    let mut call = megram(7, "tool:fetch", "path:rm /data", State::ChangeApproach);
    call.content = insight("it failed");
    task(&journal, 7, &[read(web("b.example")), written(&call)]);
    let reply = ask(&memory);
    assert_eq!(reply.avoided.len(), 1);
    assert!(reply.after.contains(&web("b.example")), "{:?}", reply.after);
}

#[test]
fn a_lesson_of_a_pruned_task_is_of_unknown_origin_if_memory_is_rebuilt() {
    let home = Home::new();
    let journal = home.journal();
    // The first row of a task is never pruned.
    let first = ("Opened", b"{}".to_vec());
    task(&journal, 1, &[first, read(web("a.example")), written(&of_intent(1, State::Accept))]);
    let memory = home.memory(&journal);
    assert_eq!(ask(&memory).after, [web("a.example")]);
    let prune = Prune {
        tasks: vec![TaskId::mint("count", 1).as_str().into()],
        kept_kinds: ["UserInput", "FinalResult", "DirectAnswer", "Megram", "NegativeFeedback"],
        kept_fragments: Default::default(),
        as_of: journal.last_pos().unwrap(),
        dead_owners: Default::default(),
        by: RoleId::Operator.name(),
        now_us: NOW.as_micros(),
    };
    journal.prune(prune).unwrap();
    assert_eq!(ask(&memory).after, [web("a.example")], "memory keeps what it knows");
    drop(memory);
    std::fs::remove_dir_all(home.memory_dir()).unwrap();
    assert_eq!(ask(&home.memory(&journal)).after, [Source::Unknown]);
}
