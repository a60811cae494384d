//! Which pages of other origins a browser lets call, and read what is answered (Fetch, §3.2).
//!
//! Only what a page sends of its own counts: no answer lets a browser add credentials that it keeps.

use std::str::FromStr;

use http::header::{ACCESS_CONTROL_REQUEST_METHOD, ALLOW, HeaderValue, ORIGIN, VARY};
use http::{Method, Request, Response};

use super::answer::set;

/// How many origins may be named.
const MOST: usize = 50;
/// The longest origin, in bytes: a scheme, a host name of 253 bytes and a port.
const LONGEST: usize = 300;

/// What a page may send. The star stands for every header but `Authorization`.
const SENT: &str = "authorization, *";
/// What a page may read beyond the headers that every page may.
const READ: &str = "a2a-extensions, allow, etag, retry-after, www-authenticate, x-request-id";
/// How long a browser may keep what it was told, in seconds: as long as any of them does.
const KEPT: &str = "7200";

/// The pages that may call from a browser, by their origins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origins {
    /// Only those of the desk's own origin.
    #[default]
    None,
    /// All.
    Any,
    /// Those of these origins, as browsers send them.
    These(Vec<String>),
}

impl FromStr for Origins {
    type Err = &'static str;

    /// Reads `*`, or at most 50 origins with commas between them.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let origins = text.split(',').map(str::trim).filter(|origin| !origin.is_empty());
        let origins: Vec<String> = origins.map(str::to_owned).collect();
        match origins.as_slice() {
            [] => Ok(Self::None),
            [all] if all == "*" => Ok(Self::Any),
            these if these.len() <= MOST && these.iter().all(|origin| is_origin(origin)) => {
                Ok(Self::These(origins))
            }
            _ => {
                Err("expected * or at most 50 origins as browsers send them, such as https://app.example.org")
            }
        }
    }
}

/// Whether a browser would send this text as the origin of a page: a scheme, a host and perhaps a port, in lower case and
/// without the port that the scheme has anyway.
fn is_origin(text: &str) -> bool {
    let scheme = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_lowercase())
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte))
    };
    let host = |text: &str| {
        let plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-._:[]".contains(&byte);
        !text.is_empty() && text.bytes().all(plain) && !text.starts_with(':') && !text.ends_with(':')
    };
    let Some((named, place)) = text.split_once("://") else {
        return false;
    };
    let default = match named {
        "http" => ":80",
        "https" => ":443",
        _ => "",
    };
    text.len() <= LONGEST && scheme(named) && host(place) && (default.is_empty() || !place.ends_with(default))
}

impl Origins {
    /// What a request's answer is to say to the browser that sent it.
    #[must_use]
    pub fn grant<B>(&self, request: &Request<B>) -> Grant {
        let origin = match self {
            Self::None => None,
            // Whoever asks: a cache may keep it for a page that comes later.
            Self::Any => Some(HeaderValue::from_static("*")),
            Self::These(origins) => request
                .headers()
                .get(ORIGIN)
                .filter(|origin| origins.iter().any(|known| known.as_bytes() == origin.as_bytes()))
                .cloned(),
        };
        Grant {
            origin,
            varies: matches!(self, Self::These(_)),
            preflight: *request.method() == Method::OPTIONS
                && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD),
        }
    }
}

/// What an answer says to a browser.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Whose pages may read it.
    origin: Option<HeaderValue>,
    /// Whether others may be told otherwise.
    varies: bool,
    /// Whether the browser asks what it may send, before it does.
    preflight: bool,
}

impl Grant {
    /// Says it.
    pub fn put<B>(self, response: &mut Response<B>) {
        if self.varies {
            // Caches must not give one origin's answer to another.
            response
                .headers_mut()
                .append(VARY, HeaderValue::from_static("origin"));
        }
        let Some(origin) = self.origin else {
            return;
        };
        response
            .headers_mut()
            .insert("access-control-allow-origin", origin);
        let allowed = response.headers().get(ALLOW).filter(|_| self.preflight).cloned();
        if let Some(methods) = allowed {
            response
                .headers_mut()
                .insert("access-control-allow-methods", methods);
            set(response, "access-control-allow-headers", SENT);
            set(response, "access-control-max-age", KEPT);
        } else {
            set(response, "access-control-expose-headers", READ);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_one_as_browsers_send_it() {
        for good in [
            "https://app.example.org",
            "http://localhost:5173",
            "http://[::1]:8080",
            "https://a_b.example:80",
            "chrome-extension://abcdefghijklmnop",
            "capacitor://localhost",
        ] {
            assert_eq!(good.parse(), Ok(Origins::These(vec![good.to_owned()])), "{good}");
        }
        for bad in [
            "null",
            "app.example.org",
            "https://",
            "://a",
            "1a://b",
            "https://app.example.org/",
            "https://App.example.org",
            "HTTPS://app.example.org",
            "https://app.example.org:443",
            "http://app.example.org:80",
            "https://app.example.org:",
            "https://:8080",
            "https://*.example.org",
            "https://a@b",
            "https://a b",
            "*, https://app.example.org",
        ] {
            assert!(bad.parse::<Origins>().is_err(), "{bad}");
        }
        let long = |length: usize| format!("https://{}", "a".repeat(length - 8)).parse::<Origins>();
        assert!(long(300).is_ok() && long(301).is_err());
    }

    #[test]
    fn there_are_none_or_all_or_at_most_50() {
        assert_eq!("".parse(), Ok(Origins::None));
        assert_eq!(" , ".parse(), Ok(Origins::None));
        assert_eq!(" * ".parse(), Ok(Origins::Any));
        let many = |count: usize| {
            let origins: Vec<String> = (0..count)
                .map(|port| format!("http://a:{}", 1000 + port))
                .collect();
            origins.join(" , ").parse::<Origins>()
        };
        assert!(matches!(many(50), Ok(Origins::These(origins)) if origins.len() == 50));
        assert!(many(51).is_err());
    }
}
