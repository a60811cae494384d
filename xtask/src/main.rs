//! `cargo xtask`: the project's own commands. Without arguments it lists them.

use std::process::ExitCode;

use xtask::{Outcome, bench, browser, component, conformance, deny, dev, fuzz, spin, test, wit, workers};

struct Command {
    name: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> Outcome,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "dev",
        summary: "Builds the native host and serves from .a2a-edge/; further arguments go to `a2a-edge serve`.",
        run: dev::run,
    },
    Command {
        name: "test",
        summary: "Sets the toolchain up and runs every check, stopping at the first that fails.",
        run: test::run,
    },
    Command {
        name: "component",
        summary: "Builds the components into the target directory: no imports, within their size budgets.",
        run: component::run,
    },
    Command {
        name: "wit",
        summary: "Holds the interfaces of wit/ to those last released; --keep keeps them as released.",
        run: wit::run,
    },
    Command {
        name: "workers",
        summary: "Builds the Cloudflare host into build/, within its size budget; wrangler.toml deploys it.",
        run: workers::run,
    },
    Command {
        name: "browser",
        summary: "Builds the npm packages for Node, bundlers and pages, and the playground, within their size budget.",
        run: browser::run,
    },
    Command {
        name: "spin",
        summary: "Builds the Spin application into build/spin/, within its size budget; spin.toml runs it.",
        run: spin::run,
    },
    Command {
        name: "bench",
        summary: "Prints how fast the core is, natively and as a component; with --spin, the Spin host; with --load, the native host beside other SDKs.",
        run: bench::run,
    },
    Command {
        name: "fuzz",
        summary: "Calls every function and the HTTP surface with what nobody should send, 10 minutes each or --minutes N; names choose some.",
        run: fuzz::run,
    },
    Command {
        name: "conformance",
        summary: "Runs the A2A test kit of `--kit PATH` against `--host native`, `workers` or `spin`, and prints what came of it.",
        run: conformance::run,
    },
    Command {
        name: "deny",
        summary: "Checks licences, bans and sources of all dependencies, installing cargo-deny if it is missing.",
        run: deny::run,
    },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "help".to_owned());
    let rest: Vec<String> = arguments.collect();
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprint!("xtask: there is no command `{name}`\n\n{}", help());
        return ExitCode::from(2);
    };
    match (command.run)(&rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask {name}: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let mut text = "Usage: cargo xtask <command> [arguments]\n\nCommands:\n".to_owned();
    for command in COMMANDS {
        text.push_str(&format!("  {:<11} {}\n", command.name, command.summary));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_tells_every_command_in_a_sentence() {
        let help = help();
        for command in COMMANDS {
            assert!(help.contains(command.name), "{} is not listed", command.name);
            assert!(
                command.summary.ends_with('.'),
                "{} is told in no sentence",
                command.name
            );
        }
    }
}
