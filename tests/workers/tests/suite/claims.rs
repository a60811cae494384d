//! Many who want the same of one object: exactly one gets it.

use a2a_edge_workers_tests::Deployment;

use crate::claimants::contend;
use crate::party::Party;

#[test]
fn of_64_claimants_at_once_exactly_one_wins_every_one_of_200_rounds() {
    contend(&[&Party::new(&Deployment::default()).running]);
}
