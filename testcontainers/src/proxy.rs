//! A TCP proxy before a server that breaks connections at a chosen point of the protocol.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Where a connection breaks. A text is looked for in what the client sends: `COMMIT\0` is the whole simple query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// So many bytes from now have gone to the server; what follows is lost.
    SentBytes(usize),
    /// So many bytes from now have come from the server; what follows is lost.
    ReceivedBytes(usize),
    /// The packet with the text is lost.
    Before(&'static str),
    /// The packet with the text is lost, and the server's side stays open: the server knows of nothing.
    BeforeHalfOpen(&'static str),
    /// The packet with the text reaches the server, and its answer is lost.
    Answer(&'static str),
}

/// A proxy on 127.0.0.1; its connections end with it.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    listener: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    target: String,
    fault: Mutex<Option<Fault>>,
    cuts: AtomicUsize,
    connects: Mutex<Vec<Instant>>,
    refuses: AtomicBool,
    stalled: watch::Sender<bool>,
    /// Counts up when all connections are to end.
    generation: watch::Sender<usize>,
    /// The servers' sides of half-open connections.
    held: Mutex<Vec<OwnedWriteHalf>>,
}

/// Both directions of one connection.
struct Link {
    closed: watch::Sender<bool>,
    answer_lost: AtomicBool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToServer,
    ToClient,
}

enum Verdict {
    Forward,
    /// So many bytes still go through.
    Cut(usize),
    HalfOpen,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `user:password@`, `host:port`, and the rest of a URL.
fn parts(url: &str) -> Option<(&str, &str, &str)> {
    let from = url.find('@')? + 1;
    let to = from + url[from..].find('/')?;
    Some((&url[..from], &url[from..to], &url[to..]))
}

impl Proxy {
    /// A proxy before the server of a database's URL.
    ///
    /// # Panics
    ///
    /// If the URL has no user or no database, or no port is free.
    pub async fn before(url: &str) -> Self {
        let Some((_, target, _)) = parts(url) else { panic!("not a URL of a test database") };
        let listener = match TcpListener::bind("127.0.0.1:0").await {
            Ok(listener) => listener,
            Err(error) => panic!("fault proxy: {error}"),
        };
        let port = listener.local_addr().map_or(0, |address| address.port());
        let shared = Arc::new(Shared {
            target: target.to_owned(),
            fault: Mutex::default(),
            cuts: AtomicUsize::new(0),
            connects: Mutex::default(),
            refuses: AtomicBool::new(false),
            stalled: watch::Sender::new(false),
            generation: watch::Sender::new(0),
            held: Mutex::default(),
        });
        let listener = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Self { port, shared, listener }
    }

    /// The URL of a database of that server, by way of the proxy. Without TLS, in which no text could be found.
    ///
    /// # Panics
    ///
    /// If the URL has no user or no database.
    pub fn url(&self, url: &str) -> String {
        let Some((login, _, database)) = parts(url) else { panic!("not a URL of a test database") };
        let separator = if database.contains('?') { '&' } else { '?' };
        format!("{login}127.0.0.1:{}{database}{separator}sslmode=disable", self.port)
    }

    /// Breaks one connection, the first that comes to this point.
    pub fn inject(&self, fault: Fault) {
        *lock(&self.shared.fault) = Some(fault);
    }

    /// Connections broken by faults so far.
    pub fn cuts(&self) -> usize {
        self.shared.cuts.load(Ordering::SeqCst)
    }

    /// When clients connected, those that were refused included.
    pub fn connects(&self) -> Vec<Instant> {
        lock(&self.shared.connects).clone()
    }

    /// Whether new connections are closed at once.
    pub fn refuse(&self, refuses: bool) {
        self.shared.refuses.store(refuses, Ordering::SeqCst);
    }

    /// Ends all connections.
    pub fn cut_all(&self) {
        self.shared.generation.send_modify(|generation| *generation += 1);
        lock(&self.shared.held).clear();
    }

    /// Whether bytes are held back in both directions, while connections stay open.
    pub fn stall(&self, stalled: bool) {
        self.shared.stalled.send_replace(stalled);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listener.abort();
        self.cut_all();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((client, _)) = listener.accept().await {
        lock(&shared.connects).push(Instant::now());
        if !shared.refuses.load(Ordering::SeqCst) {
            tokio::spawn(serve(client, Arc::clone(&shared)));
        }
    }
}

async fn serve(client: TcpStream, shared: Arc<Shared>) {
    let mut generation = shared.generation.subscribe();
    let Ok(server) = TcpStream::connect(&shared.target).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let link = Link { closed: watch::Sender::new(false), answer_lost: AtomicBool::new(false) };
    tokio::select! {
        _ = generation.changed() => {}
        _ = async {
            tokio::join!(
                pump(from_client, to_server, Direction::ToServer, &shared, &link),
                pump(from_server, to_client, Direction::ToClient, &shared, &link),
            )
        } => {}
    }
}

/// Moves bytes until either side ends.
async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    direction: Direction,
    shared: &Shared,
    link: &Link,
) {
    let mut closed = link.closed.subscribe();
    let mut stalled = shared.stalled.subscribe();
    let mut buffer = vec![0; 64 << 10];
    // The end of the bytes before, since a text may be cut in two.
    let mut tail: Vec<u8> = Vec::new();
    loop {
        let read = async {
            let length = from.read(&mut buffer).await.unwrap_or(0);
            let _ = stalled.wait_for(|stalled| !stalled).await;
            length
        };
        let length = tokio::select! {
            length = read => length,
            _ = closed.wait_for(|closed| *closed) => break,
        };
        if length == 0 {
            break;
        }
        let bytes = &buffer[..length];
        match shared.judge(direction, &tail, bytes, link) {
            Verdict::Forward => {
                if to.write_all(bytes).await.is_err() {
                    break;
                }
            }
            Verdict::Cut(through) => {
                let _ = to.write_all(&bytes[..through]).await;
                shared.cuts.fetch_add(1, Ordering::SeqCst);
                break;
            }
            Verdict::HalfOpen => {
                shared.cuts.fetch_add(1, Ordering::SeqCst);
                lock(&shared.held).push(to);
                break;
            }
        }
        tail.extend_from_slice(bytes);
        tail.drain(..tail.len().saturating_sub(32));
    }
    link.closed.send_replace(true);
}

impl Shared {
    fn judge(&self, direction: Direction, tail: &[u8], bytes: &[u8], link: &Link) -> Verdict {
        if direction == Direction::ToClient && link.answer_lost.load(Ordering::SeqCst) {
            return Verdict::Cut(0);
        }
        let mut armed = lock(&self.fault);
        let contains = |text: &str| {
            let seen = [tail, bytes].concat();
            seen.windows(text.len()).any(|window| window == text.as_bytes())
        };
        let to_server = direction == Direction::ToServer;
        let verdict = match *armed {
            Some(Fault::SentBytes(left)) if to_server && left <= bytes.len() => Verdict::Cut(left),
            Some(Fault::SentBytes(left)) if to_server => {
                *armed = Some(Fault::SentBytes(left - bytes.len()));
                return Verdict::Forward;
            }
            Some(Fault::ReceivedBytes(left)) if !to_server && left <= bytes.len() => Verdict::Cut(left),
            Some(Fault::ReceivedBytes(left)) if !to_server => {
                *armed = Some(Fault::ReceivedBytes(left - bytes.len()));
                return Verdict::Forward;
            }
            Some(Fault::Before(text)) if to_server && contains(text) => Verdict::Cut(0),
            Some(Fault::BeforeHalfOpen(text)) if to_server && contains(text) => Verdict::HalfOpen,
            Some(Fault::Answer(text)) if to_server && contains(text) => {
                link.answer_lost.store(true, Ordering::SeqCst);
                Verdict::Forward
            }
            _ => return Verdict::Forward,
        };
        *armed = None;
        verdict
    }
}
