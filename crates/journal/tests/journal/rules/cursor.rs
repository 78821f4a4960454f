//! Cursors move forward, and back only by a rewind.

use setpoint_journal::JournalError;

use crate::common::{on_both, open_task};

#[test]
fn cursor_moves_back_only_by_a_rewind() {
    on_both(|journal| {
        open_task(journal, "t", 5);
        assert_eq!(journal.cursor("memory").unwrap(), 0);
        journal.advance_cursor("memory", 3).unwrap();
        journal.advance_cursor("memory", 3).unwrap();
        journal.advance_cursor("auditor", 5).unwrap();
        let back = journal.advance_cursor("memory", 2).unwrap_err();
        assert!(matches!(back, JournalError::CursorBackwards { at: 3, asked: 2, .. }), "{back:?}");
        let beyond = journal.advance_cursor("memory", 6).unwrap_err();
        assert!(matches!(beyond, JournalError::CursorBeyondEnd { last_pos: 5, asked: 6, .. }), "{beyond:?}");
        assert_eq!((journal.cursor("memory").unwrap(), journal.cursor("auditor").unwrap()), (3, 5));
        journal.rewind_cursor("memory", 0).unwrap();
        assert_eq!(journal.cursor("memory").unwrap(), 0);
        assert!(matches!(journal.rewind_cursor("memory", 6), Err(JournalError::CursorBeyondEnd { .. })));
        assert!(matches!(journal.advance_cursor("", 1), Err(JournalError::BadName { .. })));
    });
}
