//! What memory gave to the plan: one line while the task runs, all of it afterwards.

use setpoint_protocol::message::MemoryAction;

use super::words;
use crate::state::recall::{Recall, RecalledItem, RecalledKind};
use crate::text::{Line, Tone};

/// Returns the most important item in one line; `None` if memory gave nothing.
#[must_use]
pub fn line(recall: &Recall) -> Option<Line> {
    if let Some(reason) = &recall.unavailable {
        return Some(Line::new().and(Tone::Care, &format!("the plan is made without memory: {reason}")));
    }
    let Some(first) = recall.given.first() else { return withheld(recall) };
    let mut line = match recall.potentials.action {
        // Rules and facts apply whatever the sums are.
        MemoryAction::Ignore => given(first),
        _ => sums(recall).and(Tone::Dim, "; ").then(given(first)),
    };
    let more = recall.given.len() - 1;
    if more > 0 {
        line.push(Tone::Dim, &format!(" (and {more} more)"));
    }
    Some(line)
}

/// Returns the same line without the sums.
#[must_use]
pub fn brief(recall: &Recall) -> Option<Line> {
    if recall.unavailable.is_some() {
        return line(recall);
    }
    recall.given.first().map(given).or_else(|| withheld(recall))
}

/// Returns the number of records withheld from the models, if there are any.
fn withheld(recall: &Recall) -> Option<Line> {
    let number = u64::from(recall.withheld);
    let count = words::count(number, "record");
    let told = "learnt without this model and not sent to it; `setpoint memory share yes` allows that";
    (number > 0).then(|| Line::new().and(Tone::Plain, &count).and(Tone::Dim, &format!(" {told}")))
}

/// Returns everything that memory gave, with the ids that `setpoint memory show` takes.
#[must_use]
pub fn lines(recall: &Recall) -> Vec<Line> {
    let head = Line::new().and(Tone::Dim, "memory  ");
    if recall.given.is_empty() || recall.unavailable.is_some() {
        return line(recall).map(|line| head.then(line)).into_iter().collect();
    }
    let mut lines = vec![head.then(sums(recall))];
    for one in &recall.given {
        let mut line = Line::plain("        ").then(given(one));
        line.push(Tone::Dim, &format!("  {}", one.id));
        if recall.overridden.contains(&one.id) {
            line.push(Tone::Care, "  overridden: no plan could be made otherwise");
        }
        lines.push(line);
    }
    lines.extend(withheld(recall).map(|line| Line::plain("        ").then(line)));
    lines
}

fn sums(recall: &Recall) -> Line {
    let potentials = &recall.potentials;
    let (tone, word) = words::action(potentials.action);
    let mut line = Line::new().and(tone, word);
    let numbers =
        format!("  M_att {} M_dec {}", words::share(potentials.attention), words::share(potentials.decision));
    line.push(Tone::Dim, &numbers);
    line
}

fn given(given: &RecalledItem) -> Line {
    let tone = match given.what {
        RecalledKind::Constraint | RecalledKind::Avoided | RecalledKind::Failed => Tone::Bad,
        RecalledKind::BestPractice | RecalledKind::Worked => Tone::Good,
        RecalledKind::Noted | RecalledKind::Hypothesis | RecalledKind::Related | RecalledKind::Fact => {
            Tone::Plain
        }
    };
    Line::new().and(tone, given.what.words()).and(Tone::Plain, &format!(": {}", given.text))
}

#[cfg(test)]
mod tests {
    use setpoint_protocol::message::Potentials;

    use super::*;

    #[test]
    fn records_withheld_from_a_model_are_reported() {
        let recall = |given: Vec<RecalledItem>, withheld| Recall {
            unavailable: None,
            potentials: Potentials::default(),
            given,
            applied: Vec::new(),
            overridden: Vec::new(),
            withheld,
        };
        let told =
            "2 records learnt without this model and not sent to it; `setpoint memory share yes` allows that";
        for said in [line(&recall(vec![], 2)), brief(&recall(vec![], 2))] {
            assert_eq!(said.unwrap().to_text(), told);
        }
        assert_eq!((line(&recall(vec![], 0)), brief(&recall(vec![], 0))), (None, None));
        let id = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let fact = RecalledItem { id, what: RecalledKind::Fact, text: "photos lie in ~/p".to_owned() };
        assert_eq!(brief(&recall(vec![fact.clone()], 1)).unwrap().to_text(), "fact: photos lie in ~/p");
        let all = lines(&recall(vec![fact], 1));
        assert!(all.last().unwrap().to_text().contains("1 record learnt without this model"), "{all:?}");
    }
}
