//! The store as its users see it.

mod damage;
mod kill;
mod properties;
mod rules;
mod store;
mod support;
