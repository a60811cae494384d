//! How long sessions take: large ones, and those in which much is held. A digest of a session with 10,000 records may take
//! 10 ms, and a claim acquired among 10,000 twice as long as one among 10.

pub mod claims;
pub mod contest;
pub mod digest;
