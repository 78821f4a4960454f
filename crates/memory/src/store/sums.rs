//! The running sums of a pair, or of a tool over all its pairs, as cells in the database.

use setpoint_mkct::{Accumulators, Cell, Sum};

use crate::store::error::Result;
use crate::store::sqlite::{Columns, Db, Seal};

/// The columns that [`read`] takes.
macro_rules! cells {
    ($rest:literal) => {
        concat!(
            "SELECT c.owner, c.k, c.count, c.reference_us, c.newest_us, c.attention, c.attention_lost, c.decision, \
             c.decision_lost, c.removed, c.seal FROM ",
            $rest
        )
    };
}
pub(crate) use cells;

/// The owner of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Owner {
    /// A pair.
    Pair(i64),
    /// A space, with the sums of all its pairs.
    Space(i64),
}

impl Owner {
    pub(crate) const fn number(self) -> i64 {
        match self {
            Owner::Pair(pid) => pid,
            Owner::Space(sid) => -sid,
        }
    }
}

/// Returns the owner of a cell, and the cell.
pub(crate) fn read(columns: &Columns<'_>) -> Result<(i64, Cell)> {
    let owner = columns.int(0)?;
    let cell = Cell {
        k: columns.real(1)?,
        count: columns.count(2)?,
        reference_us: columns.int(3)?,
        newest_us: columns.int(4)?,
        attention: Sum { rounded: columns.real(5)?, lost: columns.real(6)? },
        decision: Sum { rounded: columns.real(7)?, lost: columns.real(8)? },
        removed: columns.real(9)?,
    };
    if seal(owner, &cell) != columns.int(10)? {
        return Err(columns.damaged("a running sum is invalid"));
    }
    Ok((owner, cell))
}

/// Returns the sums of one owner.
pub(crate) fn load(db: &Db, owner: Owner) -> Result<Accumulators> {
    let cells =
        db.all(cells!("cell c WHERE c.owner = ?1"), [owner.number()], |columns| Ok(read(columns)?.1))?;
    Ok(Accumulators::from_cells(cells))
}

/// Writes the changed sums of one owner.
pub(crate) fn save(db: &Db, owner: Owner, before: &Accumulators, now: &Accumulators) -> Result<()> {
    let owner = owner.number();
    let is_gone = |cell: &&Cell| now.cells().iter().all(|kept| kept.k.to_bits() != cell.k.to_bits());
    for cell in before.cells().iter().filter(is_gone) {
        db.change("DELETE FROM cell WHERE owner = ?1 AND k = ?2", (owner, cell.k))?;
    }
    for cell in now.cells().iter().filter(|cell| !before.cells().contains(cell)) {
        db.change(
            "INSERT OR REPLACE INTO cell (owner, k, count, reference_us, newest_us, attention, attention_lost, decision, \
             decision_lost, removed, seal) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            (
                owner,
                cell.k,
                i64::try_from(cell.count).unwrap_or(i64::MAX),
                cell.reference_us,
                cell.newest_us,
                cell.attention.rounded,
                cell.attention.lost,
                cell.decision.rounded,
                cell.decision.lost,
                cell.removed,
                seal(owner, cell),
            ),
        )?;
    }
    Ok(())
}

fn seal(owner: i64, cell: &Cell) -> i64 {
    Seal::of("cell")
        .int(owner)
        .real(cell.k)
        .int(i64::try_from(cell.count).unwrap_or(i64::MAX))
        .int(cell.reference_us)
        .int(cell.newest_us)
        .real(cell.attention.rounded)
        .real(cell.attention.lost)
        .real(cell.decision.rounded)
        .real(cell.decision.lost)
        .real(cell.removed)
        .value()
}
