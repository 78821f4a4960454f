use proptest::prelude::*;
use proptest::sample::select;
use setpoint_protocol::tool::Secret;

use super::*;

/// A short text that is not empty.
fn word() -> impl Strategy<Value = String> {
    "[a-z]{1,6}"
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        word().prop_map(Source::Web),
        select(vec!["wiki", "mail"]).prop_map(|name| Source::Server(name.into()))
    ]
}

fn secret() -> impl Strategy<Value = Secret> {
    prop_oneof![word().prop_map(Secret::File), word().prop_map(Secret::Key), word().prop_map(Secret::Form)]
}

fn cause() -> impl Strategy<Value = Cause> {
    let calls = (word(), source(), any::<bool>(), any::<bool>());
    prop_oneof![
        word().prop_map(Cause::Command),
        word().prop_map(Cause::Content),
        word().prop_map(Cause::Link),
        (word(), prop::collection::vec(word(), 0..2))
            .prop_map(|(host, sends)| Cause::Connects { host, sends }),
        word().prop_map(Cause::Query),
        calls.prop_map(|(tool, server, is_trusted, is_connected)| Cause::Calls {
            tool,
            server,
            is_trusted,
            is_connected
        }),
    ]
}

fn touch() -> impl Strategy<Value = TouchFacts> {
    let found = prop_oneof![
        1 => word().prop_map(Found::Unknown),
        4 => Just(Found::Nothing),
        4 => Just(Found::Own),
        4 => (word(), prop::option::of(word())).prop_map(|(path, target)| Found::Foreign { path, target }),
    ];
    let area = select(vec![Area::Workspace, Area::WorkingDirectory, Area::Elsewhere]);
    let flags = (any::<bool>(), prop::bool::weighted(0.05), any::<bool>(), any::<bool>());
    (word(), area, found, prop::option::weighted(0.3, word()), flags).prop_map(
        |(path, area, found, obeyed, (is_delete, is_closed, is_in_cache, has_other_names))| TouchFacts {
            path,
            is_delete,
            is_closed,
            area,
            is_in_cache,
            found,
            has_other_names,
            obeyed,
        },
    )
}

prop_compose! {
    fn facts()(
        cause in prop::option::of(cause()),
        touches in prop::collection::vec(touch(), 0..4),
        sources in prop::collection::vec(source(), 0..3),
        secrets in prop::collection::vec(secret(), 0..2),
        contains in prop::collection::vec(secret(), 0..2),
        denied in prop::option::weighted(0.1, word()),
        (is_l0, is_kept, is_cautious) in any::<(bool, bool, bool)>(),
        stage in prop_oneof![Just(Stage::Plain), Just(Stage::Outside), word().prop_map(Stage::Unmade), Just(Stage::Ran)],
        grant in select(vec![Grant::None, Grant::Void, Grant::Covers]),
    ) -> Facts {
        let level = if is_l0 { RunLevel::L0 } else { RunLevel::L1 };
        Facts { level, cwd: "/w".into(), cause, touches, is_kept, is_cautious, sources, secrets, contains, denied, stage, grant, acts_outside: None }
    }
}

/// How much is allowed: what is refused, asked about, let through.
fn freedom(facts: &Facts) -> u8 {
    match decide(facts) {
        Decision::Refuse { .. } | Decision::Deny { .. } => 0,
        // The same line answers the question.
        Decision::Ask(_) if facts.denied.is_some() => 0,
        Decision::Ask(_) => 1,
        Decision::LetThrough => 2,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn knowing_more_against_a_call_never_frees_it(
        before in facts(), source in source(), secret in secret(), touch in touch(), at in 0usize..4, why in word(),
    ) {
        let free = freedom(&before);
        let with = |change: &dyn Fn(&mut Facts)| {
            let mut after = before.clone();
            change(&mut after);
            freedom(&after)
        };
        prop_assert!(with(&|facts| facts.sources.push(source.clone())) <= free, "a source");
        prop_assert!(with(&|facts| facts.secrets.push(secret.clone())) <= free, "a secret");
        prop_assert!(with(&|facts| facts.contains.push(secret.clone())) <= free, "a key in it");
        prop_assert!(with(&|facts| facts.denied = Some(why.clone())) <= free, "a line that denies it");
        prop_assert!(with(&|facts| facts.level = RunLevel::L0) <= free, "a lower level");
        prop_assert!(with(&|facts| facts.is_cautious = true) <= free, "caution");
        prop_assert!(with(&|facts| facts.is_kept = false) <= free, "no undo");
        prop_assert!(with(&|facts| facts.grant = Grant::Void) <= free, "a void grant");
        prop_assert!(with(&|facts| facts.touches.push(touch.clone())) <= free, "one more path");
        let each = |change: &dyn Fn(&mut TouchFacts)| with(&|facts| facts.touches.get_mut(at).into_iter().for_each(change));
        prop_assert!(each(&|touch| touch.is_closed = true) <= free, "a closed path");
        prop_assert!(each(&|touch| touch.obeyed = Some(why.clone())) <= free, "an obeyed path");
        prop_assert!(each(&|touch| touch.has_other_names = true) <= free, "a hard link");
        prop_assert!(each(&|touch| touch.area = Area::Elsewhere) <= free, "another place");
        prop_assert!(each(&|touch| touch.found = Found::Unknown(why.clone())) <= free, "an unknown place");
    }

    #[test]
    fn closed_paths_are_refused_whatever_is_granted(mut facts in facts(), mut touch in touch(), at in 0usize..4) {
        touch.is_closed = true;
        facts.touches.insert(at.min(facts.touches.len()), touch);
        for grant in [Grant::None, Grant::Void, Grant::Covers] {
            facts.grant = grant;
            prop_assert_eq!(decide(&facts).rule(), Some(Rule::Closed));
        }
    }

    #[test]
    fn what_a_line_denies_never_runs_whatever_is_granted(mut facts in facts(), line in word()) {
        for grant in [Grant::None, Grant::Void, Grant::Covers] {
            facts.grant = grant;
            facts.denied = None;
            let without = decide(&facts);
            facts.denied = Some(line.clone());
            // What is asked about is refused by the same line when it is answered.
            let expected = match without {
                Decision::LetThrough => Decision::Deny { line: line.clone() },
                other => other,
            };
            prop_assert_eq!(decide(&facts), expected);
        }
    }

    #[test]
    fn only_own_files_outside_need_no_grant(mut facts in facts()) {
        facts.grant = Grant::None;
        if decide(&facts) == Decision::LetThrough {
            for touch in &facts.touches {
                let is_own = touch.found == Found::Own;
                let is_gone = touch.found == Found::Nothing && touch.is_delete;
                prop_assert!(touch.area != Area::Elsewhere || is_own || is_gone, "{:?}", touch);
                prop_assert!(touch.area == Area::Workspace || facts.level == RunLevel::L1, "{:?}", touch);
            }
            let sends = matches!(facts.cause, Some(Cause::Calls { is_connected: true, .. }));
            prop_assert!(!sends || (facts.secrets.is_empty() && facts.contains.is_empty()));
        }
    }

    #[test]
    fn what_sends_a_key_is_asked_about_by_that_rule(mut facts in facts(), key in secret()) {
        facts.touches.iter_mut().for_each(|touch| touch.is_closed = false);
        facts.contains = vec![key];
        facts.grant = Grant::None;
        if facts.cause.as_ref().is_some_and(sends) {
            prop_assert_eq!(decide(&facts).rule(), Some(Rule::SecretSent));
        } else {
            let without = Facts { contains: Vec::new(), ..facts.clone() };
            prop_assert_eq!(decide(&facts), decide(&without));
        }
    }

    #[test]
    fn every_grant_but_a_matching_one_is_worthless(mut facts in facts()) {
        facts.grant = Grant::None;
        let without = freedom(&facts);
        facts.grant = Grant::Void;
        prop_assert_eq!(freedom(&facts), without);
    }

    #[test]
    fn the_order_of_paths_does_not_matter(mut facts in facts(), by in 0usize..4) {
        let free = freedom(&facts);
        let by = by.min(facts.touches.len());
        facts.touches.rotate_left(by);
        prop_assert_eq!(freedom(&facts), free);
        facts.touches.reverse();
        prop_assert_eq!(freedom(&facts), free);
    }

    #[test]
    fn what_a_record_keeps_decides_the_same(facts in facts()) {
        if let Decision::Ask(asking) = decide(&facts) {
            let kept = deciding(facts, &asking);
            prop_assert!(kept.touches.len() <= 1 && kept.sources.len() + kept.secrets.len() + kept.contains.len() <= 1);
            let Decision::Ask(again) = decide(&kept) else { return Err(TestCaseError::fail("it is let through")) };
            prop_assert_eq!((again.rule, again.reason), (asking.rule, asking.reason));
            // As it comes back from the journal.
            let text = serde_json::to_string(&kept).unwrap();
            prop_assert_eq!(serde_json::from_str::<Facts>(&text).unwrap(), kept);
        }
    }
}

#[test]
fn every_rule_is_reachable_and_says_its_name() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut left: Vec<Rule> = Rule::ALL.to_vec();
    for _ in 0..20_000 {
        let facts = facts().new_tree(&mut runner).unwrap().current();
        let rule = decide(&facts).rule();
        left.retain(|other| Some(*other) != rule);
    }
    assert_eq!(left, []);
    for rule in Rule::ALL {
        assert_eq!(serde_json::to_value(rule).unwrap(), rule.name());
    }
}
