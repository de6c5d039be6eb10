//! Passwords that are asked for at each connect: from a command, or from the program that uses the library.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::options::Secret;
use crate::{Error, ErrorKind, Result};

const OPERATION: &str = "ask for the password";

/// More than this is no password: the command is the wrong one.
const LONGEST: u64 = 64 << 10;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A password to come.
pub(super) type PasswordFuture = Pin<Box<dyn Future<Output = Result<Secret, Cause>> + Send>>;

type Ask = dyn Fn() -> PasswordFuture + Send + Sync;

/// Where a password comes from at each connect.
#[derive(Clone)]
pub(super) enum PasswordProvider {
    /// A shell's command line. Secret: there may be a token in it.
    Command(Secret),
    Callback(Arc<Ask>),
}

impl PasswordProvider {
    pub(super) fn command(command: Secret) -> Self {
        Self::Command(command)
    }

    pub(super) fn callback(ask: impl Fn() -> PasswordFuture + Send + Sync + 'static) -> Self {
        Self::Callback(Arc::new(ask))
    }

    /// The password of now.
    ///
    /// # Errors
    /// `Authentication` where none is given, `Timeout` where it takes too long; never with a word of what was said.
    pub(super) async fn ask(&self, longest: Duration) -> Result<Secret> {
        let answer = async {
            match self {
                Self::Command(command) => run(command.expose()).await,
                Self::Callback(ask) => ask().await.map_err(|cause| {
                    Error::new(ErrorKind::Authentication, OPERATION, "the program's own callback gave none")
                        .with_source(Given(cause))
                }),
            }
        };
        match timeout(longest, answer).await {
            Ok(answer) => answer,
            Err(_) => {
                let words = format!("{} gave none within {longest:?}", self.name());
                Err(Error::new(ErrorKind::Timeout, OPERATION, words)
                    .with_hint("it must need no terminal and no input; or raise client.connect-timeout"))
            }
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Command(_) => "connection.password-command",
            Self::Callback(_) => "the program's own callback",
        }
    }
}

impl fmt::Debug for PasswordProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Command(_) => "Command(…)",
            Self::Callback(_) => "Callback(…)",
        })
    }
}

/// Two callbacks are equal where they are the same one.
impl PartialEq for PasswordProvider {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Command(one), Self::Command(other)) => one == other,
            (Self::Callback(one), Self::Callback(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl Eq for PasswordProvider {}

impl Hash for PasswordProvider {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Command(command) => command.hash(state),
            Self::Callback(ask) => Arc::as_ptr(ask).cast::<()>().hash(state),
        }
    }
}

/// A boxed error as a cause.
#[derive(Debug)]
struct Given(Cause);

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Given {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

fn failed(words: impl Into<String>) -> Error {
    Error::new(ErrorKind::Authentication, OPERATION, words)
        .with_hint("run connection.password-command by hand; it must print the password and end with 0")
}

/// What the command prints, without its last newline. Nothing of it, and nothing of what it complains about, is told.
async fn run(command: &str) -> Result<Secret> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut child = Command::new(shell)
        .args([flag, command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| {
            failed(format!("the shell of connection.password-command does not start: {}", error.kind()))
        })?;
    let unread = |error: std::io::Error| {
        failed(format!("the output of connection.password-command cannot be read: {}", error.kind()))
    };
    let mut output = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(LONGEST + 1).read_to_end(&mut output).await.map_err(unread)?;
    }
    if output.len() as u64 > LONGEST {
        return Err(failed("connection.password-command prints more than a password"));
    }
    let status = child.wait().await.map_err(unread)?;
    if !status.success() {
        return Err(failed(format!("connection.password-command failed ({status})")));
    }
    let Ok(mut password) = String::from_utf8(output) else {
        return Err(failed("connection.password-command prints what is no UTF-8"));
    };
    if password.ends_with('\n') {
        password.pop();
        if password.ends_with('\r') {
            password.pop();
        }
    }
    if password.is_empty() || password.contains('\0') {
        return Err(failed("connection.password-command prints no password"));
    }
    Ok(Secret::new(password))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    async fn answer(command: &str) -> Result<String> {
        let provider = PasswordProvider::command(command.into());
        provider.ask(Duration::from_secs(10)).await.map(|password| password.expose().to_owned())
    }

    #[tokio::test]
    async fn only_the_last_newline_is_taken_away() {
        assert_eq!(answer("echo one").await.unwrap(), "one");
        assert_eq!(answer("printf one").await.unwrap(), "one");
        assert_eq!(answer(r"printf ' a \n\n'").await.unwrap(), " a \n");
        assert_eq!(answer(r"printf 'a\r\n'").await.unwrap(), "a");
        assert_eq!(answer(r#"printf '%s\n' "p@s/w?r#d%41 {x}'\\""#).await.unwrap(), r"p@s/w?r#d%41 {x}'\");
    }

    #[tokio::test]
    async fn failures_show_neither_the_command_nor_its_output() {
        for command in [
            "echo hush; echo hush >&2; exit 3",
            "no_such_command_hush",
            "true hush",
            r"printf 'hush\377'",
            r"printf 'hush\000'",
            "yes hush",
            "echo hush; kill -9 $$",
        ] {
            let error = answer(command).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Authentication, "{command}");
            assert!(error.message().contains("connection.password-command"), "{error}");
            assert!(!format!("{error} {error:?}").contains("hush"), "{error:?}");
        }
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_a_timeout() {
        let provider = PasswordProvider::command("echo hush; sleep 60".into());
        let error = provider.ask(Duration::from_millis(100)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert!(!format!("{error} {error:?} {provider:?}").contains("hush"), "{error:?}");
    }

    #[tokio::test]
    async fn a_callback_is_asked_each_time_and_its_error_is_the_cause() {
        let provider = PasswordProvider::callback(|| Box::pin(async { Err("the vault is sealed".into()) }));
        let error = provider.ask(Duration::from_secs(1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Authentication);
        assert!(format!("{error:?}").contains("the vault is sealed"), "{error:?}");
        assert_eq!(provider, provider.clone());
        assert_ne!(provider, PasswordProvider::callback(|| Box::pin(async { Ok("a".into()) })));
    }
}
