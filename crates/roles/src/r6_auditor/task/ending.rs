//! Checks that a task ends exactly once.

use setpoint_protocol::message::EndedBy;

use super::super::body::End;
use super::claims;
use super::told::{Fact, RecordReading};
use super::watch::TaskWatch;

impl TaskWatch {
    pub(super) fn on_end(&mut self, end: &End, told: &mut RecordReading<'_>) {
        self.settle_answers(told);
        match end.ended_by {
            EndedBy::CriteriaMet
            | EndedBy::Unproven
            | EndedBy::Distance
            | EndedBy::Omega
            | EndedBy::Law2
            | EndedBy::Rounds => {
                self.fan_in.on_decided_end(told);
            }
            EndedBy::Infeasible
            | EndedBy::Fault
            | EndedBy::Consent
            | EndedBy::Budget
            | EndedBy::Deadline
            | EndedBy::Cancelled => {}
        }
        claims::check_end(end, self.course.was_accepted(), told);
        claims::check_self_made(end, told);
        self.decided_end(end, told);
        told.is_ended = true;
        told.count(Fact::Ended(end.directive));
    }
}
