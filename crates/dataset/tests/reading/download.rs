//! Tests of sources behind a URL, served on the loopback interface.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::common::{gzip, lines, read, zstd};
use jsonathlon_dataset::DataError;
use jsonathlon_dataset::source::Source;
use jsonathlon_dataset::stage::{IgnoreDocuments, StageOptions, stage};

/// Starts a server that answers one request with these bytes and closes. Returns a source with its URL.
fn serve(answer: Vec<u8>, then: impl FnOnce(TcpStream) + Send + 'static) -> Source {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while request.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        // The client may disconnect before the end.
        let _ = stream.write_all(&answer);
        then(stream);
    });
    Source::Url(format!("http://somebody:secret@{address}/events.json"))
}

fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n").as_bytes(), body].concat()
}

fn ok(body: &[u8]) -> Vec<u8> {
    answer(&format!("200 OK\r\ncontent-length: {}", body.len()), body)
}

fn expected(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(|line| line.as_bytes().to_vec()).collect()
}

#[test]
fn whatever_is_behind_an_address_is_read() {
    let text = lines(3_000);
    for body in [text.clone().into_bytes(), gzip(&text), zstd(&text)] {
        assert_eq!(read(&serve(ok(&body), drop)).unwrap(), expected(&text));
    }
    // Without a length, the end of the connection ends the data.
    assert_eq!(read(&serve(answer("200 OK", text.as_bytes()), drop)).unwrap(), expected(&text));
    let encoded = gzip(&text);
    let head = format!("200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}", encoded.len());
    assert_eq!(read(&serve(answer(&head, &encoded), drop)).unwrap(), expected(&text));
    let size = text.len();
    let chunked = format!("{size:x}\r\n{text}\r\n0\r\n\r\n");
    let whole = answer("200 OK\r\ntransfer-encoding: chunked", chunked.as_bytes());
    assert_eq!(read(&serve(whole, drop)).unwrap(), expected(&text));
}

#[test]
fn an_address_that_does_not_have_it_says_so() {
    let source = serve(answer("404 Not Found\r\ncontent-length: 4", b"gone"), drop);
    let error = read(&source).unwrap_err();
    assert!(matches!(error, DataError::Download { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("status 404") && text.contains("/events.json") && text.contains("check the address"),
        "{text}"
    );
    assert!(!text.contains("secret"), "{text}");
}

#[test]
fn nobody_at_an_address_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = read(&Source::Url(format!("http://{address}/x"))).unwrap_err();
    assert!(matches!(error, DataError::Download { .. }), "{error:?}");
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    let error = read(&Source::Url("http://".into())).unwrap_err();
    assert!(matches!(error, DataError::Download { .. }), "{error:?}");
}

#[test]
fn a_download_that_is_cut_short_is_an_error() {
    let text = lines(3_000);
    let stored = [text.clone().into_bytes(), gzip(&text), zstd(&text)];
    for body in stored {
        let sent = body.len() / 2;
        let head = format!("200 OK\r\ncontent-length: {}", body.len());
        let error = read(&serve(answer(&head, &body[..sent]), drop)).unwrap_err();
        let DataError::CutShort { received, expected: Some(announced), .. } = &error else {
            panic!("{error:?}")
        };
        assert_eq!((*received, *announced), (sent as u64, body.len() as u64));
        let message = error.to_string();
        assert!(message.contains("try again") && !message.contains("secret"), "{message}");
    }
    // Chunked transfer whose last chunk never arrives.
    let chunked = format!("{:x}\r\n{text}", text.len() + 10);
    let error =
        read(&serve(answer("200 OK\r\ntransfer-encoding: chunked", chunked.as_bytes()), drop)).unwrap_err();
    assert!(matches!(error, DataError::CutShort { expected: None, .. }), "{error:?}");
}

#[test]
fn a_stalled_download_can_be_cancelled() {
    let text = lines(100);
    let head = format!("200 OK\r\ncontent-length: {}", text.len() * 2);
    let source = serve(answer(&head, text.as_bytes()), |stream| {
        std::thread::sleep(Duration::from_secs(20));
        drop(stream);
    });
    let folder = tempfile::tempdir().unwrap();
    let start = Instant::now();
    let cancelled = || start.elapsed() > Duration::from_millis(300);
    let error =
        stage(&source, folder.path(), StageOptions::default(), &mut IgnoreDocuments, &mut |_| (), &cancelled)
            .unwrap_err();
    assert!(matches!(error, DataError::Cancelled), "{error:?}");
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
