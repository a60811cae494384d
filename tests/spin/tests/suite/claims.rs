//! Many who want the same of four instances on one store: exactly one gets it.

use a2a_edge_spin_tests::Deployment;
use a2a_edge_stories::server::Running;

use crate::callers::scratch;
use crate::claimants::contend;
use crate::party::{Redis, sqlite, start};

/// Four processes with an instance each.
fn four(deployment: &Deployment) {
    let running = [(); 4].map(|()| start(&deployment.clone().with("instances", "1")));
    let hosts: Vec<&Running> = running.iter().collect();
    contend(&hosts);
}

#[test]
fn of_64_claimants_at_once_exactly_one_wins_every_one_of_200_rounds_in_memory() {
    // Four instances in one process, whose memory it is.
    contend(&[&start(&Deployment::on("memory"))]);
}

#[test]
fn of_64_claimants_at_once_exactly_one_wins_every_one_of_200_rounds_on_sqlite() {
    let place = scratch();
    four(&sqlite(&place));
}

#[test]
fn of_64_claimants_at_once_exactly_one_wins_every_one_of_200_rounds_on_redis() {
    let redis = Redis::start(scratch());
    four(&redis.deployment());
}
