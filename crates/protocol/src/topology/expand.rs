//! The macro of the topology. It spells out what a line of the table means in types and data.

/// Expands the table.
macro_rules! topology {
    (
        messages { $(
            #[doc = $about:literal]
            $message:ident : [$($from:ident),+] => [$($to:ident),+] $( asks $answer:ident )? $( closes $closed:ident )? ;
        )+ }
        capabilities { $( $holder:ident : [$($capability:ident),+] ; )+ }
    ) => {
        /// The kind of a message.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Kind { $( #[doc = $about] $message, )+ }

        impl Kind {
            /// All kinds, in loop order.
            pub const ALL: &[Kind] = &[$( Kind::$message ),+];

            /// Returns the name on the wire.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Kind::$message => stringify!($message), )+ }
            }

            /// Returns the line of the table.
            #[must_use]
            pub const fn route(self) -> Route {
                match self {
                    $( Kind::$message => Route {
                        kind: Kind::$message,
                        from: &[$( RoleId::$from ),+],
                        to: &[$( RoleId::$to ),+],
                        about: $about,
                    }, )+
                }
            }

            /// Returns the kind of the answer, if the message is a question to a party outside the task.
            #[must_use]
            pub const fn asks(self) -> Option<Kind> {
                match self {
                    $( $( Kind::$message => Some(Kind::$answer), )? )+
                    _ => None,
                }
            }

            /// Returns whether the message ends the task.
            #[must_use]
            pub const fn closes(self) -> bool {
                match self {
                    $( $( Kind::$message => { const _: &str = stringify!($closed); true } )? )+
                    _ => false,
                }
            }
        }

        /// The whole table, as data.
        pub const ROUTES: &[Route] = &[$( Kind::$message.route() ),+];

        /// The capabilities of each role, as data. A role that is not listed has none.
        pub const CAPABILITIES: &[(RoleId, &[Capability])] =
            &[$( (RoleId::$holder, &[$( Capability::$capability ),+]) ),+];

        /// Any message.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Payload { $( #[doc = $about] $message(message::$message), )+ }

        impl Payload {
            /// Returns the kind of the message.
            #[must_use]
            pub const fn kind(&self) -> Kind {
                match self { $( Payload::$message(_) => Kind::$message, )+ }
            }

            /// Returns the ask that the message opens, if it is a question ([`Kind::asks`]).
            #[must_use]
            pub const fn opens(&self) -> Option<CallId> {
                match self {
                    $( $( Payload::$message(question) => { const _: Kind = Kind::$answer; Some(question.call_id) } )? )+
                    _ => None,
                }
            }

            /// Returns the ask that the message answers, if it is an answer.
            #[must_use]
            pub const fn answers(&self) -> Option<CallId> {
                match self {
                    $( $( Payload::$answer(answer) => Some(answer.call_id), )? )+
                    _ => None,
                }
            }

            /// Returns the exact JSON bytes that the journal stores.
            ///
            /// # Errors
            /// If a number is not finite.
            pub fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
                match self { $( Payload::$message(message) => crate::body::encode(message), )+ }
            }

            /// Decodes a body of the given kind.
            ///
            /// # Errors
            /// If the bytes are not that message; the error names a missing field.
            pub fn decode(kind: Kind, body: &[u8]) -> Result<Payload, DecodeError> {
                match kind {
                    $( Kind::$message => serde_json::from_slice(body)
                        .map(Payload::$message)
                        .map_err(|source| DecodeError { kind, source }), )+
                }
            }
        }

        /// Returns the JSON Schema of every payload, by kind, in loop order.
        pub(crate) fn payload_schemas(generator: &mut schemars::SchemaGenerator) -> Vec<(Kind, schemars::Schema)> {
            vec![$( (Kind::$message, generator.subschema_for::<message::$message>()) ),+]
        }

        $(
            impl message::sealed::Sealed for message::$message {}
            impl Message for message::$message { const KIND: Kind = Kind::$message; }
            impl From<message::$message> for Payload {
                fn from(message: message::$message) -> Payload { Payload::$message(message) }
            }
            $( impl SentBy<party::$from> for message::$message {} )+
            $( impl DeliveredTo<party::$to> for message::$message {} )+
        )+
        $( $( impl Has<crate::capability::$capability> for party::$holder {} )+ )+

        /// Each party as a type.
        pub mod party {
            use super::{Party, Receives, RoleId, inbox, sealed};
            $crate::topology::expand::parties! {
                Perceiver Planner Executor AgentValidator MetaValidator Memory Auditor
                GoalGradientSolver User Operator Runtime
            }
        }

        /// The inbox of each party: exactly the messages that may reach it.
        pub mod inbox {
            use super::{Misrouted, Payload, RoleId};
            use crate::message;
            $crate::topology::expand::inboxes! {
                [Perceiver Planner Executor AgentValidator MetaValidator Memory Auditor
                 GoalGradientSolver User Operator Runtime]
                { $( $( ($to $message) )+ )+ }
            }
        }
    };
}
pub(super) use topology;

/// Declares the marker type of each party.
macro_rules! parties {
    ($($role:ident)+) => { $(
        #[doc = concat!("The party `", stringify!($role), "`, as a type.")]
        #[derive(Clone, Copy, Debug)]
        pub enum $role {}
        impl sealed::Sealed for $role {}
        impl Party for $role { const ID: RoleId = RoleId::$role; }
        impl Receives for $role { type Inbox = inbox::$role; }
    )+ };
}
pub(super) use parties;

/// Declares one closed enum per party, from the flat list of (receiver, message) pairs.
macro_rules! inboxes {
    ([$($role:ident)+] $pairs:tt) => { $( $crate::topology::expand::inbox! { $role [] $pairs } )+ };
}
pub(super) use inboxes;

/// Filters the pairs of one party. `macro_rules` cannot compare two identifiers, so each party has its own arm.
macro_rules! inbox {
    ($role:ident [$($message:ident)*] {}) => {
        #[doc = concat!("Everything that may reach `", stringify!($role), "`.")]
        #[derive(Clone, Debug, PartialEq)]
        pub enum $role { $( #[doc = concat!("A `", stringify!($message), "`.")] $message(message::$message), )* }
        impl TryFrom<Payload> for $role {
            type Error = Misrouted;
            fn try_from(payload: Payload) -> Result<Self, Misrouted> {
                match payload {
                    $( Payload::$message(message) => Ok($role::$message(message)), )*
                    other => Err(Misrouted { kind: other.kind(), to: RoleId::$role }),
                }
            }
        }
    };
    (Perceiver [$($m:ident)*] { (Perceiver $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { Perceiver [$($m)* $n] { $($rest)* } } };
    (Planner [$($m:ident)*] { (Planner $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { Planner [$($m)* $n] { $($rest)* } } };
    (Executor [$($m:ident)*] { (Executor $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { Executor [$($m)* $n] { $($rest)* } } };
    (AgentValidator [$($m:ident)*] { (AgentValidator $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { AgentValidator [$($m)* $n] { $($rest)* } } };
    (MetaValidator [$($m:ident)*] { (MetaValidator $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { MetaValidator [$($m)* $n] { $($rest)* } } };
    (Memory [$($m:ident)*] { (Memory $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { Memory [$($m)* $n] { $($rest)* } } };
    (Auditor [$($m:ident)*] { (Auditor $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { Auditor [$($m)* $n] { $($rest)* } } };
    (GoalGradientSolver [$($m:ident)*] { (GoalGradientSolver $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { GoalGradientSolver [$($m)* $n] { $($rest)* } } };
    (User [$($m:ident)*] { (User $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { User [$($m)* $n] { $($rest)* } } };
    (Operator [$($m:ident)*] { (Operator $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { Operator [$($m)* $n] { $($rest)* } } };
    ($role:ident [$($m:ident)*] { ($other:ident $n:ident) $($rest:tt)* }) => { $crate::topology::expand::inbox! { $role [$($m)*] { $($rest)* } } };
}
pub(super) use inbox;
