//! `cargo xtask conformance`: runs the kit against a host, and prints what came of it.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use a2a_edge_conformance::caller::Caller;
use a2a_edge_conformance::host::{self, Configuration, Host};
use a2a_edge_conformance::kit::Kit;
use a2a_edge_conformance::member::Member;
use a2a_edge_conformance::report::{self, Judged};
use a2a_edge_conformance::{Failure, Outcome, fault};
use xtask::process::target_dir;

const USAGE: &str = "Usage: cargo xtask conformance --kit PATH [--host native|workers|spin] \
                     [--configuration full|bare|required] [--binding http_json|jsonrpc] [-k EXPRESSION]

PATH is a checkout of a2aproject/a2a-tck, branch 1.0-dev. Without a configuration or binding, all are run.";

/// The bindings that the desk has, as the kit calls them.
const BINDINGS: [&str; 2] = ["http_json", "jsonrpc"];

struct Arguments {
    kit: PathBuf,
    host: Host,
    configurations: Vec<Configuration>,
    bindings: Vec<String>,
    chosen: Option<String>,
}

fn main() -> ExitCode {
    let arguments = match read(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(failure) => {
            eprintln!("conformance: {failure}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("conformance: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn read(mut words: impl Iterator<Item = String>) -> Outcome<Arguments> {
    let (mut kit, mut host, mut configuration, mut bindings, mut chosen) =
        (None, Host::Native, None, Vec::new(), None);
    while let Some(option) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| Failure::new(format!("{option} needs a value")))?;
        match option.as_str() {
            "--kit" => kit = Some(PathBuf::from(value)),
            "--host" => host = value.parse()?,
            "--configuration" if value == "full" => configuration = Some(Configuration::Full),
            "--configuration" if value == "bare" => configuration = Some(Configuration::Bare),
            "--configuration" if value == "required" => configuration = Some(Configuration::Required),
            "--binding" if BINDINGS.contains(&value.as_str()) => bindings.push(value),
            "-k" => chosen = Some(value),
            _ => return Err(Failure::new(format!("cannot use {option} {value}")).into()),
        }
    }
    if bindings.is_empty() {
        bindings = BINDINGS.map(str::to_owned).to_vec();
    }
    Ok(Arguments {
        kit: kit.ok_or_else(|| Failure::new("--kit is required"))?,
        host,
        configurations: configuration.map_or_else(|| configurations(host), |it| vec![it]),
        bindings,
        chosen,
    })
}

/// Those that a host can be started in. What an extension demands is the core's affair, and tested on one host.
fn configurations(host: Host) -> Vec<Configuration> {
    match host {
        Host::Native => vec![Configuration::Full, Configuration::Bare, Configuration::Required],
        Host::Workers | Host::Spin => vec![Configuration::Full, Configuration::Bare],
    }
}

/// Whether nothing fails that is not the kit's own fault.
fn run(arguments: &Arguments) -> Outcome<bool> {
    let kit = Kit::prepare(&arguments.kit)?;
    let faults = fault::all()?;
    let mut runs: Vec<Judged> = Vec::new();
    for configuration in &arguments.configurations {
        let serving = host::start(arguments.host, *configuration)?;
        let (url, cast) = (&serving.url, &serving.cast);
        let stop = Arc::new(AtomicBool::new(false));
        let member = Member::new(
            Caller::new(url, Some(cast.member.clone())),
            Caller::new(url, Some(cast.client.clone())),
        );
        let stopped = Arc::clone(&stop);
        let working = thread::spawn(move || member.work(&stopped));
        for binding in &arguments.bindings {
            let title = [arguments.host.name(), configuration.name(), binding].map(str::to_owned);
            eprintln!("conformance: running the kit: {}", title.join(" "));
            let reports = target_dir().join("conformance").join(title.join("-"));
            let _ = std::fs::remove_dir_all(&reports);
            let ran = kit.run(
                url,
                binding,
                arguments.chosen.as_deref().or(configuration.chosen()),
                &reports,
            )?;
            runs.push(report::judge(title, &ran, &faults));
        }
        stop.store(true, Ordering::Relaxed);
        // A member that panicked has said so.
        let _ = working.join();
    }
    print!("{}\n{}", report::details(&runs), report::table(&runs));
    if let Some(commit) = kit.commit() {
        println!("\nkit: {commit}");
    }
    Ok(runs.iter().all(|run| run.failing.is_empty()))
}
