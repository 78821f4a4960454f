//! The sentence that gives the reason for a decision, with its numbers. Every comparison shown is computed
//! from the numbers, so the sentence is true under any law.

use crate::compare;
use crate::gains::{Gains, Law2Gradient};
use crate::gradient::Trend;
use crate::history::Point;
use crate::ruling::{EndedBy, Ruling};

/// Returns the reason for `ruling` on the round `point`.
pub(crate) fn rationale(ruling: Ruling, point: &Point, gains: &Gains) -> String {
    let numbers = format!(
        "L = {:.3} from D = {:.3}, P = {:.3}, Ω = {:.3}; ∇L = {:+.3}, of which budget alone {:+.3}",
        point.loss.l,
        point.loss.d,
        point.loss.p,
        point.loss.omega,
        point.gradient.grad_l,
        point.gradient.grad_l_budget,
    );
    let budget = budget_alone(ruling, point, gains).unwrap_or_default();
    format!("{}: {} ({numbers}).{budget}", ruling.state(), reason(ruling, point, gains))
}

fn reason(ruling: Ruling, point: &Point, gains: &Gains) -> String {
    match ruling {
        Ruling::Replan(_) => {
            let signal = Trend::of(point.gradient.grad_l, gains) != Trend::Plateau;
            let logical = compare::above(point.loss.p, gains.rho);
            format!(
                "|∇L| {} ε = {:.3} and P {} ρ = {:.3}",
                if signal { "≥" } else { "<" },
                gains.epsilon,
                if logical { ">" } else { "≤" },
                gains.rho
            )
        }
        Ruling::End(by) => match by {
            EndedBy::CriteriaMet => "every criterion is met".to_owned(),
            EndedBy::Unproven => "no pass shows that the work did it".to_owned(),
            EndedBy::Distance => format!("D ≤ δ = {:.3}, close enough", gains.delta),
            EndedBy::Omega => format!("Ω ≥ θ = {:.3}, the budget pressure is too high", gains.theta),
            EndedBy::Law2 => format!(
                "{} rounds in a row worsened by ε = {:.3} or more{}, the limit of Law 2 is {}",
                point.worsening_count,
                gains.epsilon,
                match gains.law2_gradient {
                    Law2Gradient::Full => "",
                    Law2Gradient::Net => ", the budget's part left out",
                },
                gains.law2_rounds
            ),
            EndedBy::Rounds => {
                format!("round {} is more than the {} replans allowed", point.rounds, gains.max_replans)
            }
            EndedBy::Infeasible => "the goal cannot be reached here".to_owned(),
            EndedBy::Fault => "a fault that another round cannot mend".to_owned(),
            EndedBy::Consent => "consent was refused for what the task needs".to_owned(),
            EndedBy::Budget => "a hard budget is used up".to_owned(),
            EndedBy::Deadline => "the deadline has passed".to_owned(),
            EndedBy::Cancelled => "the user cancelled".to_owned(),
        },
    }
}

/// Returns a remark if the round is worsening only because of the budget's part, and that could influence the ruling: in
/// the table of |∇L| and P always, in Law 2 if it counts the whole gradient.
fn budget_alone(ruling: Ruling, point: &Point, gains: &Gains) -> Option<String> {
    let has_a_say = match ruling {
        Ruling::Replan(_) => true,
        Ruling::End(EndedBy::Law2) => gains.law2_gradient == Law2Gradient::Full,
        Ruling::End(_) => false,
    };
    (has_a_say && point.gradient.worsens_by_budget_alone(gains)).then(|| {
        format!(
            " The budget part alone makes this round look like worsening: without it ∇L would be {:+.3}.",
            point.gradient.net()
        )
    })
}
