//! MongoDB: point reads by the key.

use std::path::Path;

use mongodb::bson::{RawDocumentBuf, doc};
use mongodb::options::{ClientOptions, ServerAddress};
use mongodb::sync::{Client, Collection};

use crate::ours::{Started, read_points};
use crate::pairs::{Side, compare as pairs};
use crate::{Problem, READS, RECORDS, key};

const POINT: &str = r#"{"command": {"find": "bench", "filter": {"_id": ":1"}, "limit": 1, "singleBatch": true},
    "rows": {"each": ["/cursor/firstBatch"], "columns": [{"name": "doc", "at": ""}]}}"#;

pub(crate) fn compare(program: &Path) -> Result<(), Problem> {
    let started = Started::new(program, "mongodb", "indexed")?;
    let at = &started.endpoint;
    let address = ServerAddress::Tcp { host: at.host.clone(), port: Some(at.port) };
    let options = ClientOptions::builder()
        .hosts(vec![address])
        .direct_connection(true)
        .max_pool_size(1)
        .build();
    let client = Client::with_options(options)?;
    let collection: Collection<RawDocumentBuf> = client.database(&at.database).collection("bench");
    for first in (0..RECORDS).step_by(1000) {
        let documents: Vec<RawDocumentBuf> = (first..first + 1000)
            .map(|n| {
                let mut document = doc! { "_id": n };
                for field in 0..10 {
                    document.insert(format!("field{field}"), format!("{:0>100}", n * 31 + field));
                }
                RawDocumentBuf::try_from(&document)
            })
            .collect::<Result<_, _>>()?;
        collection.insert_many(documents).run()?;
    }
    let mut lane = started.lane()?;
    let mut points = read_points(&mut *lane, POINT)?;
    pairs(
        "mongodb, point reads (ours as JSON text, the library's as BSON)",
        [
            Side { name: "ours", pass: &mut || points(&mut *lane) },
            Side {
                name: "the library",
                pass: &mut || {
                    for read in 0..READS {
                        let found = collection.find_one(doc! { "_id": key(read) }).run()?;
                        std::hint::black_box(found.ok_or("no document")?.as_bytes().len());
                    }
                    Ok(())
                },
            },
        ],
    )?;
    lane.close();
    started.stop()
}
