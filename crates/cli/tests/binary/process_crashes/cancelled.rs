//! A cancel after the process was killed: the task ends, and nothing more of it is done.

use super::assembly::Assembly;

/// Killed when the first calls that may change something are asked for, and earlier.
#[test]
fn a_killed_task_is_cancelled_before_anything_of_it_runs_again() {
    for n in [3, 9, 20, 26, 36] {
        let assembly = Assembly::new();
        let killed = assembly.run(Some(&format!("before:{n}")));
        assert_eq!(killed.signal, Some(9), "{killed:#?}");
        let tasks = assembly.tasks();
        let [task] = tasks.as_slice() else {
            assert!(n <= 3, "{n}: {tasks:?}");
            continue;
        };
        let (left, parts) = (assembly.left_behind(task), assembly.parts());
        let came = assembly.home.run(&["tasks", "cancel", "--json", task]);
        let result = came.json();
        assert_eq!((came.code, &result["ended_by"]), (0, &"cancelled".into()), "{n}: {came:#?}");
        assert_eq!(assembly.parts(), parts, "{n}: something was done after the cancel");
        let story = assembly.story(task);
        assert_eq!((story.count("FinalResult"), story.count("CancelRequest")), (1, 1), "{n}");
        // No model is asked any more, and no attempt is begun.
        let asked = |kind| (story.count(kind), left.count(kind));
        for (kind, (now, before)) in ["Reasked", "ApprovalRequest"].map(|kind| (kind, asked(kind))) {
            assert_eq!(now, before, "{n}: {kind}");
        }
        let timers = story.asks().values().filter(|ask| ask.what.contains("timer")).count();
        assert_eq!(story.count("Asked") - timers, left.count("Asked"), "{n}");
    }
}
