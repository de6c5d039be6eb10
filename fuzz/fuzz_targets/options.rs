//! Option texts: any key with any value gives options or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pgsluice::options::{SinkOptions, Use, resolve};

fuzz_target!(|pairs: Vec<(String, String)>| {
    let _ = SinkOptions::from_map(pairs.clone());
    let _ = resolve(pairs, Use::Sink);
});
