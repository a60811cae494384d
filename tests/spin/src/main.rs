//! `spin-like <application> <store> [name=value]…`: serves the application, compiled before, and prints where.
//! `spin-like <folder>`: compiles the application into a folder, and prints its path.
//!
//! The store is `memory`, `careless`, `sqlite:<path>` or `redis:<port>`. Of the names `instances`, `requests` and `at_once`
//! are how instances are kept, and `schemes` those of the URLs that they may call, `https` as in the manifest unless it is
//! given; the others are the application's variables.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use a2a_edge_spin_tests::Platform;
use a2a_edge_spin_tests::backend::{Backend, Careless, Memory, Redis, Sqlite};
use a2a_edge_spin_tests::instance::Shared;
use a2a_edge_spin_tests::outbound::Outbound;
use a2a_edge_spin_tests::serve::{Manners, Served};

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let application = arguments.next().ok_or("expected an application and a store")?;
    let Some(store) = arguments.next() else {
        let platform = Platform::prepare(Path::new(&application))?;
        println!("{}", platform.application().display());
        return Ok(());
    };
    let mut manners = Manners {
        instances: 4,
        requests: 128,
        at_once: 16,
    };
    let mut outbound = Outbound(vec!["https".to_owned()]);
    let mut variables = BTreeMap::new();
    for argument in arguments {
        let (name, value) = argument.split_once('=').ok_or("expected name=value")?;
        match name {
            "instances" => manners.instances = value.parse()?,
            "requests" => manners.requests = value.parse()?,
            "at_once" => manners.at_once = value.parse()?,
            "schemes" => outbound = Outbound(value.split(',').map(str::to_owned).collect()),
            _ => drop(variables.insert(name.to_owned(), value.to_owned())),
        }
    }
    let backend = backend(&store)?;
    let shared = Shared {
        backend,
        variables,
        outbound,
    };
    let served = Served::open(Path::new(&application), shared, manners).await?;
    println!("{{\"event\":\"listen\",\"port\":{}}}", served.port);
    served.serve().await;
    Ok(())
}

fn backend(store: &str) -> Result<Arc<dyn Backend>, Box<dyn Error>> {
    Ok(match store.split_once(':') {
        None if store == "memory" => Arc::new(Memory::default()),
        None if store == "careless" => Arc::new(Careless::default()),
        Some(("sqlite", path)) => Arc::new(Sqlite::open(Path::new(path))?),
        Some(("redis", port)) => Arc::new(Redis::at(port.parse()?)),
        _ => return Err(format!("there is no store {store}").into()),
    })
}
