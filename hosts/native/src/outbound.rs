//! Requests to webhooks: no proxy, no redirect, and no address that the deployment does not allow.

use std::time::Duration;

use a2a_edge::guard::Reach;
use a2a_edge::serve::Outbound;
use a2a_edge::session::push::Place;
use http::{Request, StatusCode, Uri};
use serde_json::json;
use tokio::task::spawn_blocking;
use ureq::config::Config;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

use crate::server::log::{Level, Log};

/// How long a notification may take, from looking the name up to the end of the answer.
const WHOLE: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(5);
/// What is read of an answer, so that its connection can be used again: nobody looks at it.
const ANSWER_BYTES: u64 = 4096;

/// Sends notifications from this machine.
#[derive(Clone, Debug)]
pub struct Webhooks {
    agent: Agent,
    log: Log,
}

impl Webhooks {
    /// Sends as far as `reach` goes.
    #[must_use]
    pub fn new(reach: Reach, log: Log) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(reach == Reach::Public)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // A proxy would look the name up itself, and connect wherever that leads.
            .proxy(None)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(WHOLE))
            .build();
        let resolver = Guarded {
            reach,
            names: DefaultResolver::default(),
        };
        Self {
            agent: Agent::with_parts(config, DefaultConnector::default(), resolver),
            log,
        }
    }

    fn send(&self, request: Request<Vec<u8>>) -> Result<StatusCode, Error> {
        let mut response = self.agent.run(request)?;
        let _ = response
            .body_mut()
            .with_config()
            .limit(ANSWER_BYTES)
            .read_to_vec();
        Ok(response.status())
    }
}

impl Outbound for Webhooks {
    async fn post(&self, request: Request<Vec<u8>>) -> Result<StatusCode, String> {
        let host = request.uri().host().unwrap_or_default().to_owned();
        let sender = self.clone();
        let sent = spawn_blocking(move || sender.send(request)).await;
        let sent = match sent {
            Ok(sent) => sent.map_err(|error| error.to_string()),
            Err(_) => Err("the attempt came to no end".to_owned()),
        };
        match &sent {
            Ok(status) if status.is_success() => {}
            Ok(status) => self.log.event(
                Level::Warn,
                "webhook",
                &[("host", json!(host)), ("status", json!(status.as_u16()))],
            ),
            Err(why) => self.log.event(
                Level::Warn,
                "webhook",
                &[("host", json!(host)), ("why", json!(why))],
            ),
        }
        sent
    }

    fn given_up(&self, session_id: &str, place: &Place) {
        let facts = [("session", json!(session_id)), ("task", json!(place.task_id))];
        self.log.event(Level::Warn, "webhook-given-up", &facts);
    }
}

/// Looks names up, and keeps back what they must not lead to. The connection is made to the very addresses that come
/// out of it, so that no name leads elsewhere the second time.
#[derive(Debug)]
struct Guarded<R> {
    reach: Reach,
    names: R,
}

impl<R: Resolver> Resolver for Guarded<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let found = self.names.resolve(uri, config, timeout)?;
        let mut allowed = self.empty();
        for address in found.iter().filter(|address| self.reach.allows(address.ip())) {
            allowed.push(*address);
        }
        if allowed.is_empty() {
            return Err(Error::HostNotFound);
        }
        Ok(allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{SocketAddr, TcpListener};

    /// A name that leads to these addresses.
    #[derive(Debug)]
    struct Fixed(Vec<SocketAddr>);

    impl Resolver for Fixed {
        fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
            let mut found = self.empty();
            self.0.iter().for_each(|address| found.push(*address));
            Ok(found)
        }
    }

    fn webhooks(reach: Reach, names: Fixed) -> Webhooks {
        let config = Agent::config_builder()
            .proxy(None)
            .timeout_global(Some(CONNECT))
            .build();
        let resolver = Guarded { reach, names };
        Webhooks {
            agent: Agent::with_parts(config, DefaultConnector::default(), resolver),
            log: Log::default(),
        }
    }

    #[test]
    fn a_public_name_that_leads_within_is_not_connected_to() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let within = listener.local_addr().unwrap();
        let request = || {
            let mut request = Request::new(b"{}".to_vec());
            *request.uri_mut() = "http://client.example/hook".parse().unwrap();
            *request.method_mut() = http::Method::POST;
            request
        };
        let refused = webhooks(Reach::Public, Fixed(vec![within])).send(request());
        assert!(matches!(refused, Err(Error::HostNotFound)), "{refused:?}");
        assert!(listener.accept().is_err(), "nobody connected");
        // The very address that was let through is connected to, whatever the name is.
        let thread =
            std::thread::spawn(move || webhooks(Reach::Anywhere, Fixed(vec![within])).send(request()));
        listener.set_nonblocking(false).unwrap();
        drop(listener.accept().unwrap());
        assert!(thread.join().unwrap().is_err());
    }

    #[test]
    fn of_several_addresses_the_allowed_ones_are_kept() {
        let [within, without] = ["10.0.0.1:443", "1.1.1.1:443"].map(|it| it.parse::<SocketAddr>().unwrap());
        let guarded = Guarded {
            reach: Reach::Public,
            names: Fixed(vec![within, without]),
        };
        let uri = Uri::from_static("https://client.example");
        let found = guarded
            .resolve(&uri, &Config::default(), NextTimeout::default())
            .unwrap();
        assert_eq!(found[..], [without]);
    }
}
