use super::*;

#[test]
fn the_table_equals_that_of_the_specification() {
    let flat: Vec<String> = ROUTES
        .iter()
        .map(|r| {
            let names = |ids: &[RoleId]| ids.iter().map(|id| id.label()).collect::<Vec<_>>().join("+");
            format!("{} {} {}", names(r.from), names(r.to), r.kind)
        })
        .collect();
    expect_test::expect_file!["../../tests/golden/routes.txt"].assert_eq(&(flat.join("\n") + "\n"));
}

#[test]
fn only_listed_sends_are_allowed() {
    let mut allowed = 0;
    for from in RoleId::ALL {
        for to in RoleId::ALL {
            for kind in Kind::ALL {
                if allows(from, to, *kind) {
                    allowed += 1;
                    assert!(
                        ROUTES
                            .iter()
                            .any(|r| r.kind == *kind && r.from.contains(&from) && r.to.contains(&to))
                    );
                }
            }
        }
    }
    let listed: usize = ROUTES.iter().map(|r| r.from.len() * r.to.len()).sum();
    assert_eq!(allowed, listed);
    assert!(!allows(RoleId::Executor, RoleId::Memory, Kind::MemoryQuery));
    assert!(!allows(RoleId::MetaValidator, RoleId::User, Kind::FinalResult));
}

#[test]
fn an_inbox_accepts_only_what_is_delivered_to_it() {
    let input = Payload::from(message::UserInput { raw_input: "x".to_owned() });
    assert!(inbox::Perceiver::try_from(input.clone()).is_ok());
    assert_eq!(
        inbox::Planner::try_from(input),
        Err(Misrouted { kind: Kind::UserInput, to: RoleId::Planner })
    );
}

#[test]
fn the_auditor_exchanges_messages_with_the_operator_only() {
    for route in ROUTES {
        if route.from.contains(&RoleId::Auditor) {
            assert_eq!(route.to, [RoleId::Operator]);
        }
        if route.to.contains(&RoleId::Auditor) {
            assert_eq!(route.from, [RoleId::Operator]);
        }
    }
    assert!(CAPABILITIES.iter().all(|(id, _)| *id != RoleId::Auditor && *id != RoleId::GoalGradientSolver));
}

#[test]
fn only_executor_runs_tools_and_only_it_and_r4b_probe() {
    let who = |capability| RoleId::ALL.into_iter().filter(|role| may(*role, capability)).collect::<Vec<_>>();
    assert_eq!(who(Capability::RunTool), [RoleId::Executor]);
    assert_eq!(who(Capability::RunProbe), [RoleId::Executor, RoleId::MetaValidator]);
    assert_eq!(who(Capability::Survey), [RoleId::Planner]);
}

/// A question that the table does not mark is neither stopped by a cancel nor shown again after a restart.
#[test]
fn the_table_names_questions_and_endings() {
    let mut lines = Vec::new();
    for kind in Kind::ALL {
        match kind.asks() {
            Some(answer) => lines.push(format!("{kind} asks {answer}")),
            None if kind.closes() => lines.push(format!("{kind} closes the task")),
            None => {}
        }
    }
    expect_test::expect_file!["../../tests/golden/questions.txt"].assert_eq(&(lines.join("\n") + "\n"));
    // The answer returns to the asking party.
    for (question, answer) in Kind::ALL.iter().filter_map(|kind| Some((kind, kind.asks()?))) {
        assert_eq!(question.route().from, answer.route().to, "{question}");
        assert_eq!(question.route().to, answer.route().from, "{question}");
        assert_eq!((answer.asks(), answer.closes()), (None, false), "{answer}");
    }
}
