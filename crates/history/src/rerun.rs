//! Runs a task's controller again over its inputs, under other settings.
//!
//! During the replay two more R7s run beside the task's own and receive the same inputs, at the same times, with the
//! same sums: one under the recorded settings, one under the settings to try. Their decisions are compared until the
//! first one that differs. Later inputs belong to the plans that were really made, so the R7 under the tried settings
//! receives nothing more.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use setpoint_machine::effects::{Effect, EffectBuffer};
use setpoint_machine::{AnyInput, AnyMachine, CallReader, Cell, Ctx, Factory};
use setpoint_protocol::message::{EndedBy, FaultKind, MacroState};
use setpoint_protocol::record::{Answer, Opened, Record, RecordKind};
use setpoint_protocol::replay::{Decided, Parting, Rerun, RerunRound, TriedSetting};
use setpoint_protocol::settings::ControllerSettings;
use setpoint_protocol::topology::{Kind, Misrouted, Payload};
use setpoint_protocol::{Address, Any, RoleId, TaskId};
use setpoint_roles::r7_goal_gradient_solver::GoalGradientSolver;

use crate::records::strictness_of;
use crate::{History, HistoryError};

impl History {
    /// Runs a task's controller again under other settings, and reports the settings with these names.
    ///
    /// # Errors
    /// Fails for an unknown or damaged task, and for one that does not replay.
    pub fn rerun(
        &self,
        task: &TaskId,
        tried: ControllerSettings,
        names: &[&str],
    ) -> Result<Rerun, HistoryError> {
        let records = self.records(task)?;
        let opened = opened_of(task, &records)?;
        let settings = tried_settings(&opened.controller, &tried, names);
        let log = Arc::new(Mutex::new(Log::default()));
        let deadline_ms = deadline_ms(&records);
        let stand = RerunFactory {
            inner: Arc::clone(&self.factory),
            tried: Opened { controller: tried, ..opened.clone() },
            recorded_budget_ms: opened.controller.time_budget_ms,
            deadline_ms,
            log: Arc::clone(&log),
        };
        let is_other_time = stand.tried.controller.time_budget_ms != stand.recorded_budget_ms;
        let mut cell = Cell::new(task.clone(), Arc::new(stand));
        let (_, strictness) = strictness_of(&records);
        let mut steps = Vec::new();
        cell.replay_steps(&records, strictness, &mut |step| {
            let told = step
                .records
                .iter()
                .rev()
                .find(|record| makes_controller_decide(record))
                .map(|record| record.seq);
            // If R7 received no message in this step (but an answer or `Quiesced`), the step's input woke it.
            let seq = told.or(step.records.first().map(|record| record.seq)).unwrap_or(0);
            let log = log.lock().unwrap_or_else(PoisonError::into_inner);
            let new = log.rounds.len().saturating_sub(steps.len());
            steps.extend(std::iter::repeat_n(seq, new));
        })
        .map_err(|source| HistoryError::NoReplay { task: task.clone(), source })?;
        let log = std::mem::take(&mut *log.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Rerun {
            task_id: task.clone(),
            settings,
            notes: notes(&records, is_other_time),
            parting: log.parting,
            rounds: (1..)
                .zip(log.rounds)
                .zip(steps)
                .map(|((round, (recorded, tried)), seq)| RerunRound { round, seq, recorded, tried })
                .collect(),
        })
    }
}

fn opened_of(task: &TaskId, records: &[Record]) -> Result<Opened, HistoryError> {
    records
        .first()
        .and_then(|first| serde_json::from_slice(&first.body).ok())
        .ok_or_else(|| HistoryError::unreadable(task))
}

/// Returns the named settings, each as recorded and as tried.
fn tried_settings(
    recorded: &ControllerSettings,
    tried: &ControllerSettings,
    names: &[&str],
) -> Vec<TriedSetting> {
    let value = |settings: &ControllerSettings| serde_json::to_value(settings).unwrap_or_default();
    let (recorded, tried) = (value(recorded), value(tried));
    let of = |settings: &Value, name: &str| Any(settings.get(name).cloned().unwrap_or_default());
    let mut settings: Vec<TriedSetting> = Vec::new();
    for name in names {
        if !settings.iter().any(|known| known.name == *name) {
            let (recorded, tried) = (of(&recorded, name), of(&tried, name));
            settings.push(TriedSetting { name: (*name).to_owned(), recorded, tried });
        }
    }
    settings
}

/// Returns whether this record makes R7 decide.
fn makes_controller_decide(record: &Record) -> bool {
    matches!(
        record.kind,
        RecordKind::Message(
            Kind::ReplanRequest | Kind::OutcomeSummary | Kind::TaskFault | Kind::CancelRequest
        )
    )
}

/// Returns the milliseconds from the `TaskSpec` to the person's deadline, if there is one.
fn deadline_ms(records: &[Record]) -> Option<u64> {
    let spec = records.iter().find(|record| record.kind == RecordKind::Message(Kind::TaskSpec))?;
    match spec.message()? {
        Payload::TaskSpec(said) => Some(said.constraints.deadline?.millis_since(spec.at).max(1)),
        _ => None,
    }
}

fn notes(records: &[Record], is_other_time: bool) -> Vec<String> {
    let is_watchdog = |record: &&Record| match record.message() {
        Some(Payload::TaskFault(fault)) => fault.kind == FaultKind::Deadline,
        _ => false,
    };
    let late = records.iter().find(is_watchdog).filter(|_| is_other_time);
    late.map(|record| {
        format!(
            "record {} says that the time was up; with another time budget, that would happen at another time or \
             not at all",
            record.seq
        )
    })
    .into_iter()
    .collect()
}

/// The decisions of both R7s, each once.
#[derive(Default)]
struct Log {
    rounds: Vec<(Option<Decided>, Option<Decided>)>,
    parting: Option<Parting>,
}

/// A factory of the task's machines that puts the two R7s beside its own.
struct RerunFactory {
    inner: Arc<dyn Factory>,
    tried: Opened,
    recorded_budget_ms: u64,
    deadline_ms: Option<u64>,
    log: Arc<Mutex<Log>>,
}

impl Factory for RerunFactory {
    fn machine(&self, address: Address) -> Option<Box<dyn AnyMachine>> {
        let own = self.inner.machine(address)?;
        if address.role != RoleId::GoalGradientSolver {
            return Some(own);
        }
        Some(Box::new(ObservedController {
            own,
            recorded: SideController::default(),
            tried: SideController::default(),
            settings: self.tried.clone(),
            recorded_budget_ms: self.recorded_budget_ms,
            deadline_ms: self.deadline_ms,
            log: Arc::clone(&self.log),
        }))
    }

    fn slug(&self, intent: &str) -> String {
        self.inner.slug(intent)
    }

    fn reader(&self) -> &dyn CallReader {
        self.inner.reader()
    }
}

/// The task's own R7 with the two beside it.
struct ObservedController {
    own: Box<dyn AnyMachine>,
    recorded: SideController,
    tried: SideController,
    settings: Opened,
    recorded_budget_ms: u64,
    deadline_ms: Option<u64>,
    log: Arc<Mutex<Log>>,
}

impl AnyMachine for ObservedController {
    fn role(&self) -> RoleId {
        RoleId::GoalGradientSolver
    }

    fn handle_any(
        &mut self,
        input: AnyInput,
        ctx: &Ctx<'_>,
        buffer: &mut EffectBuffer,
    ) -> Result<(), Misrouted> {
        self.observe(&input, ctx)?;
        self.own.handle_any(input, ctx, buffer)
    }
}

impl ObservedController {
    fn observe(&mut self, input: &AnyInput, ctx: &Ctx<'_>) -> Result<(), Misrouted> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let recorded = self.recorded.hear(input.clone(), ctx)?;
        if log.parting.is_some() {
            // A notice is not a decision of its own; the result that follows it is.
            if let Some(ControllerOutput::Decided(decided)) = recorded {
                match log.rounds.last_mut().filter(|(recorded, _)| recorded.is_none()) {
                    Some((recorded, _)) => *recorded = Some(decided),
                    None => log.rounds.push((Some(decided), None)),
                }
            }
            return Ok(());
        }
        let own_budget_ms = self.recorded_budget_ms.min(self.deadline_ms.unwrap_or(u64::MAX));
        let tried_ms = self.settings.controller.time_budget_ms;
        // Before there is a `TaskSpec` no deadline counts.
        let time_budget_ms = match ctx.time_budget_ms == own_budget_ms {
            true => tried_ms.min(self.deadline_ms.unwrap_or(u64::MAX)),
            false => tried_ms,
        };
        let ctx = Ctx { opened: &self.settings, time_budget_ms, ..*ctx };
        let tried = self.tried.hear(input.clone(), &ctx)?;
        match (recorded, tried) {
            (None, None) => {}
            // Both abandon the task and wait for the report; its words come later, but the decision is the same.
            (Some(ControllerOutput::GivesUp(one)), Some(ControllerOutput::GivesUp(other)))
                if one == other => {}
            (Some(ControllerOutput::Decided(recorded)), Some(ControllerOutput::Decided(tried))) => {
                log.part(recorded.parts_from(&tried));
                log.rounds.push((Some(recorded), Some(tried)));
            }
            (recorded, tried) => {
                // One of the two abandons the task: its end is known at once, whatever is reported.
                let gives_up =
                    |said: &Option<ControllerOutput>| matches!(said, Some(ControllerOutput::GivesUp(_)));
                let ends = (gives_up(&recorded), gives_up(&tried));
                let tried = match tried {
                    Some(ControllerOutput::Decided(decided)) => Some(decided),
                    Some(ControllerOutput::GivesUp(_)) => self.tried.end(&ctx)?,
                    None => None,
                };
                let recorded = match recorded {
                    Some(ControllerOutput::Decided(decided)) => Some(decided),
                    // Its own end comes with the report.
                    Some(ControllerOutput::GivesUp(_)) | None => None,
                };
                use setpoint_protocol::replay::PartingKind::{Direction, Ends, GoesOn, OtherEnd};
                let kind = match (&recorded, &tried, ends) {
                    (Some(recorded), Some(tried), _) => recorded.parts_from(tried).unwrap_or(OtherEnd),
                    (None, Some(tried), (true, _)) if !tried.is_end() => GoesOn,
                    (None, _, (true, _)) => OtherEnd,
                    (_, Some(tried), _) if tried.is_end() => Ends,
                    _ => Direction,
                };
                log.part(Some(kind));
                log.rounds.push((recorded, tried));
            }
        }
        Ok(())
    }
}

impl Log {
    fn part(&mut self, kind: Option<setpoint_protocol::replay::PartingKind>) {
        let round = u32::try_from(self.rounds.len()).unwrap_or(u32::MAX).saturating_add(1);
        self.parting = kind.map(|kind| Parting { round, kind });
    }
}

/// An additional R7, whose effects are not carried out.
#[derive(Default)]
struct SideController {
    machine: GoalGradientSolver,
    calls: u32,
    /// Its timer while it waits for a report.
    timer: Option<setpoint_protocol::CallId>,
}

/// An R7's output about the round.
enum ControllerOutput {
    Decided(Decided),
    /// It abandons the task, and first asks what was achieved.
    GivesUp(EndedBy),
}

impl SideController {
    fn hear(&mut self, input: AnyInput, ctx: &Ctx<'_>) -> Result<Option<ControllerOutput>, Misrouted> {
        let address = Address::singleton(RoleId::GoalGradientSolver);
        // The ids made here are not used anywhere.
        let mut buffer = EffectBuffer::new(address, self.calls, ctx.task.clone(), 0, ctx.now);
        self.machine.handle_any(input, ctx, &mut buffer)?;
        let (effects, calls) = buffer.into_parts();
        self.calls = calls;
        let mut said = None;
        for effect in effects {
            match effect {
                Effect::Send { payload, .. } => said = of_payload(payload).or(said),
                Effect::Timer { call, .. } => self.timer = Some(call),
                // R7 has no capability for these effects.
                Effect::Model { .. } | Effect::Tool { .. } | Effect::Survey { .. } => {}
            }
        }
        Ok(said)
    }

    /// Returns its end if no report comes.
    fn end(&mut self, ctx: &Ctx<'_>) -> Result<Option<Decided>, Misrouted> {
        let Some(call) = self.timer.take() else { return Ok(None) };
        match self.hear(AnyInput::Answer { call, answer: Answer::Timer }, ctx)? {
            Some(ControllerOutput::Decided(decided)) => Ok(Some(decided)),
            Some(ControllerOutput::GivesUp(_)) | None => Ok(None),
        }
    }
}

fn of_payload(payload: Payload) -> Option<ControllerOutput> {
    match payload {
        Payload::PlanDirective(directive) => Some(ControllerOutput::Decided(Decided {
            loss: directive.loss,
            grad_l: directive.grad_l,
            decision: MacroState::from(directive.directive),
            ended_by: None,
            urgency: Some(directive.urgency),
            blocked_tools: directive.blocked_tools,
            blocked_targets: directive.blocked_targets,
            rationale: directive.rationale,
        })),
        Payload::FinalResult(result) => Some(ControllerOutput::Decided(Decided {
            loss: result.loss,
            grad_l: result.grad_l,
            decision: MacroState::from(result.directive),
            ended_by: Some(result.ended_by),
            urgency: None,
            blocked_tools: vec![],
            blocked_targets: vec![],
            rationale: result.summary,
        })),
        Payload::AbandonNotice(notice) => Some(ControllerOutput::GivesUp(notice.ended_by)),
        _ => None,
    }
}
