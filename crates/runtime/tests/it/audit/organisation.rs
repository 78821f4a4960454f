//! Beside an organisation that runs.

use setpoint_model::playbook::{Library, Playbook};
use setpoint_runtime::{Models, NewTask};

use super::*;
use crate::support::{new_task, organisation_of};

fn brain() -> Models {
    Models::one(std::sync::Arc::new(Playbook::new(std::sync::Arc::new(Library::load(None)))))
}

fn goal(home: &Home, suffix: u64) -> NewTask {
    let folder = home.path("files");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a"), "one").unwrap();
    let raw_input = format!("find the three largest files under {}", folder.display());
    NewTask { raw_input, suffix, ..new_task() }
}

#[tokio::test(flavor = "multi_thread")]
async fn real_tasks_are_audited_to_their_last_record_without_a_finding() {
    let home = Home::new();
    let journal = home.journal();
    let organisation = organisation_of(&journal, brain());
    organisation.audit(home.place());
    for n in 0..5 {
        let task = organisation.start(goal(&home, n)).await.unwrap();
        organisation.ended(&task).await;
    }
    organisation.shutdown().await;
    let journal = home.journal();
    let last = journal.last_pos().unwrap();
    home.notes_everything(&journal, last);
    let report = seen(&home, &journal);
    assert_eq!((report.lifetime.tasks, report.lifetime.accepted), (5, 5));
    assert_eq!(report.lifetime.findings, []);
    assert_eq!(home.findings(), []);
    assert_eq!(report.false_claims.len(), 1);
    assert!(report.tool_health.iter().any(|tool| tool.calls >= 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_it_tasks_run_as_before_and_it_catches_up_later() {
    let home = Home::new();
    let journal = home.journal();
    // Its place is taken: it cannot work.
    std::fs::write(home.path("audit"), "a file").unwrap();
    let organisation = organisation_of(&journal, brain());
    organisation.audit(home.place());
    let task = organisation.start(goal(&home, 1)).await.unwrap();
    organisation.ended(&task).await;
    let result = organisation.result(&task).unwrap().unwrap();
    assert_eq!(result.directive, setpoint_protocol::message::EndState::Accept);
    organisation.shutdown().await;
    std::fs::remove_file(home.path("audit")).unwrap();

    let journal = home.journal();
    let mut keeper = home.keeper(&journal);
    assert_eq!(catch_up(&mut keeper), []);
    keeper.stop(NOW).unwrap();
    home.notes_everything(&journal, journal.last_pos().unwrap());
}
