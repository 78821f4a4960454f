//! How much a sandbox can hold on this machine.

/// How much a sandbox can hold, from the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Namespaces with a root folder of its own, Landlock and a filter of system calls. Changes can be kept apart.
    Full,
    /// Landlock and a filter of system calls: no sockets, but other processes and the whole `/dev` are in sight, and
    /// nothing in a folder can be hidden or kept apart. Not for root.
    Partial,
}

impl Tier {
    /// Returns the tier's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tier::Full => "full",
            Tier::Partial => "partial",
        }
    }

    /// Returns the tier with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Tier::Full, Tier::Partial].into_iter().find(|tier| tier.name() == name)
    }
}

/// What a trial found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The strongest tier that holds; `None` if none does.
    pub tier: Option<Tier>,
    /// Why each stronger one does not.
    pub missing: Vec<Missing>,
}

/// Why a tier does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The tier.
    pub tier: Tier,
    /// The step that failed and the system's reason.
    pub why: String,
}
