//! The answers that a task gets.

use super::*;

#[test]
fn lessons_of_tasks_are_answered() {
    let home = Home::new();
    let journal = home.journal();
    let memory = home.memory(&journal);
    assert_eq!(ask(&memory).potentials.action, MemoryAction::Ignore);

    let output = Megram { level: Level::K, ..megram(9, "task:x", "subtask:y", State::ChangePath) };
    task(
        &journal,
        1,
        &[written(&of_intent(1, State::Accept)), written(&output), ("FinalResult", b"{}".into())],
    );
    let blamed = megram(2, "tool:fetch", "path:https://a", State::ChangeApproach);
    let praised = megram(3, "tool:shell/wc", "path:wc -l a", State::BreakSymmetry);
    let unasked = megram(4, "tool:search", "path:x", State::ChangeApproach);
    task(
        &journal,
        2,
        &[written(&blamed), written(&praised), written(&unasked), written(&of_intent(5, State::Refine))],
    );
    let fact = Megram {
        level: Level::C,
        f: 1.0,
        sigma: 1.0,
        k: 0.0,
        ..megram(6, USER_SPACE, "env:local", State::Accept)
    };
    memory.act(RoleId::Operator, &MemoryAct::Recorded { megram: fact, by: Author::Operator }, NOW).unwrap();

    let reply = ask(&memory);
    assert_eq!(
        (reply.availability, reply.potentials.action),
        (Availability::Available, MemoryAction::Exploit)
    );
    let ids = |megrams: &[Megram]| megrams.iter().map(|megram| megram.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&reply.records), [id(1), id(5)], "the strongest first");
    assert_eq!(ids(&reply.facts), [id(6)]);
    let tools: Vec<(&str, MemoryAction, u32)> =
        reply.tools.iter().map(|tool| (tool.tool.as_str(), tool.potentials.action, tool.tasks)).collect();
    assert_eq!(tools, [("fetch", MemoryAction::Avoid, 1), ("shell/wc", MemoryAction::Exploit, 1)]);
    let avoided: Vec<(&str, &str, &MegramId)> = reply
        .avoided
        .iter()
        .map(|call| (call.tool.as_str(), call.target.as_str(), &call.evidence.id))
        .collect();
    assert_eq!(avoided, [("fetch", "https://a", &id(2))]);
    assert_eq!(dream(&memory).unwrap().outputs, 0, "that was no output of the task's own space");
}

#[tokio::test]
async fn the_second_task_of_a_kind_knows_the_first() {
    let files = tempfile::tempdir().unwrap();
    for (name, size) in [("a", 10), ("b", 2_000), ("c", 300), ("d", 40)] {
        std::fs::write(files.path().join(name), vec![b'x'; size]).unwrap();
    }
    let home = Home::new();
    let mut replies = Vec::new();
    for suffix in [1, 2] {
        // One process per task.
        let journal = home.journal();
        let memory = home.memory(&journal);
        let organisation = organisation_with(&journal, brain(), Some(memory));
        let task = organisation.start(largest_files_under(files.path(), suffix)).await.unwrap();
        organisation.ended(&task).await;
        assert!(organisation.take_failure(&task).is_none());
        for record in organisation.records(&task).unwrap() {
            match record.message() {
                Some(Payload::MemoryReply(reply)) => replies.push(reply),
                Some(Payload::FinalResult(result)) => assert_eq!(result.directive, EndState::Accept),
                _ => {}
            }
        }
        organisation.shutdown().await;
    }
    let [first, second] = replies.as_slice() else { panic!("{} replies", replies.len()) };
    assert_eq!(
        (first.availability, first.potentials.action),
        (Availability::Available, MemoryAction::Ignore)
    );
    assert_eq!(
        (second.availability, second.potentials.action),
        (Availability::Available, MemoryAction::Exploit)
    );
    let [record] = second.records.as_slice() else { panic!("{} records", second.records.len()) };
    let approaches: Vec<&str> =
        record.content.approaches.iter().map(|approach| approach.playbook.as_str()).collect();
    assert_eq!(approaches, ["largest-files"]);
}
