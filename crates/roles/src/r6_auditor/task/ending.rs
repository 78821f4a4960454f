//! Checks that a task ends exactly once.

use setpoint_protocol::message::EndedBy;

use super::super::body;
use super::super::entry::Seen;
use super::{Fact, TaskWatch, Told, claims};

impl TaskWatch {
    pub(super) fn on_end(&mut self, seen: &Seen<'_>, end: &body::End, told: &mut Told) {
        self.settle_answers(told);
        match end.ended_by {
            EndedBy::CriteriaMet
            | EndedBy::Unproven
            | EndedBy::Distance
            | EndedBy::Omega
            | EndedBy::Law2
            | EndedBy::Rounds => {
                self.fan_in.on_decided_end(seen, told);
            }
            EndedBy::Infeasible
            | EndedBy::Fault
            | EndedBy::Consent
            | EndedBy::Budget
            | EndedBy::Deadline
            | EndedBy::Cancelled => {}
        }
        told.find(claims::of_end(seen, end, self.course.was_accepted()));
        told.find(claims::self_made(seen, end));
        self.decided_end(seen, end, told);
        told.is_ended = true;
        told.count(Fact::Ended(end.directive));
    }
}
