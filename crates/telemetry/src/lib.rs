//! What others may see of tasks: spans and metrics for a collector (OTLP), totals for Prometheus.
//!
//! Everything is made from existing records and reports. It never asks, decides or changes anything of a
//! task, and it never makes a task wait: what cannot be sent is counted and dropped.
//!
//! Reading order: [`span`] (what a span is), [`task`] (from a task's records to its spans and measures; pure),
//! [`otlp`] (to a collector), [`prometheus`] and [`serve`] (to a scraper).

pub mod attribute;
pub mod measure;
pub mod otlp;
pub mod prometheus;
pub mod serve;
pub mod span;
pub mod task;
