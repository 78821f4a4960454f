//! R2, the Planner: the path from a `TaskSpec` to a dispatched plan, and every criterion on the way.
//!
//! A round is: ask memory and survey the place (`survey`), ask the model for a plan, check the plan with the
//! validator (code, see `validate`), show it to the person if that was requested, dispatch it group by group. A
//! `PlanDirective` opens the next round; an `AbandonNotice` ends in one `PartialReport`.
//!
//! It never acts, never judges a result, never ends a task (it raises a `TaskFault`, R7 decides), and never takes an
//! id, a sequence number or a fingerprint from a model.
//!
//! **Memory's reply** becomes lines under fixed headings for the model, and limits that the validator enforces
//! (`calibration`). After the third refusal of a round memory's limits, never R7's, are dropped once; the manifest
//! names the rules overridden that way.
//!
//! **Which plans count as failed.** R2 sees no outcomes and no faults of others; it learns from the directive. One
//! that names failed sub-tasks or findings follows a round that R4b judged: that round's plan has failed and may not
//! be dispatched again. One that names neither follows a fault, or a merge that could not be judged: the plan may be
//! tried again, and what was kept before stays kept.
//!
//! **What is kept.** Sub-tasks of `PlanDirective::matched` are carried in the next manifest with their outcomes, in
//! the groups they had, before the new ones. A plan covers only what is missing; a sub-task in it whose fingerprint
//! equals a kept one is left out, because its outcome is already known. Outputs of kept sub-tasks go to every new
//! one. When a merge could not be judged although everything matched, a plan without new sub-tasks is valid: its
//! manifest holds carried ones only, and R4b judges the whole again.
//!
//! `phase` says what R2 waits for and what may follow an input; `machine` applies it. One file for each thing it
//! handles: `calibrate`, `survey`, `plan`, `validate`, `assemble` (ids and messages out of a valid plan),
//! `preview`, `dispatch`, `outputs` (of earlier groups), `history` (what earlier rounds leave), `report`, `fault`,
//! `prompt`.

mod assemble;
mod calibrate;
mod calibration;
mod dispatch;
mod fault;
mod history;
mod machine;
mod outputs;
mod phase;
mod plan;
mod preview;
mod prompt;
mod report;
mod runners;
mod survey;
mod template;
mod validate;

pub use self::machine::Planner;
