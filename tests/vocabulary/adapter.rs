//! Answers the calls of `judge.py` by the Rust library: JSON Lines in, JSON Lines out.
//!
//! ```text
//! ["links", [{"bytes": "PGEgaHJlZj14Pg=="}], {"url": "http://a/"}]   -->   {"value": [{"entity": "", …}]}
//! ```
//!
//! Deliberately absent: other names than those of the library, which serde writes.

use std::{error::Error, io::stdin, ops::ControlFlow};

use base64::{Engine, prelude::BASE64_STANDARD};
use baselink::{
    Base, Choice, ContentLocationUse, Dkim, Format, LinkReport, Messages, Rewriter, Role,
    capture_key,
};
use serde_json::{Map, Value, json};

type Answer = Result<Value, Box<dyn Error>>;

fn rewriter(options: &Map<String, Value>) -> Result<Rewriter, Box<dyn Error>> {
    let mut builder = Rewriter::builder();
    for (name, value) in options {
        let one = [value.clone()];
        for text in value.as_array().map_or(&one[..], Vec::as_slice) {
            let text = text.as_str().ok_or("absent")?;
            builder = match &**name {
                "url" => builder.url(text),
                "format" => builder.format(text.parse()?),
                "charset" => builder.charset(text.parse()?),
                "resolver" => builder.resolver(text.parse()?),
                "fragments" => builder.fragments(text.parse()?),
                "base_element" => builder.base_element(text.parse()?),
                "enable" => builder.enable(text.parse()?),
                "attributes" => builder.attributes([text.parse()?]),
                "local_copies" => builder.local_copies(text.parse()?),
                "assume_scheme" => builder.assume_scheme(text),
                "content_location" if text == "label" => {
                    builder.content_location(ContentLocationUse::Label)
                }
                "dkim" if text == "keep" => builder.dkim(Dkim::Keep),
                "content_location" | "dkim" if ["base", "rewrite"].contains(&text) => builder,
                _ => return Err("absent".into()),
            };
        }
    }
    Ok(builder.build()?)
}

fn bytes(bytes: impl AsRef<[u8]>) -> Value {
    json!({"bytes": BASE64_STANDARD.encode(bytes)})
}

fn answer(function: &str, arguments: &[Value], options: &Map<String, Value>) -> Answer {
    let text = |number: usize| arguments.get(number).and_then(Value::as_str);
    let given = |number: usize| {
        BASE64_STANDARD
            .decode(arguments.get(number)?["bytes"].as_str()?)
            .ok()
    };
    if let ("resolve" | "relativize", Some(base), Some(other)) = (function, text(0), text(1)) {
        let base = Base::parse(
            options
                .get("resolver")
                .and_then(Value::as_str)
                .unwrap_or("rfc1808")
                .parse()?,
            base,
        )?;
        return Ok(if function == "resolve" {
            base.resolve(other)?.url
        } else {
            base.relativize(other)
        }
        .into());
    }
    if function == "capture_key" {
        return Ok(capture_key(text(0).ok_or("absent")?).into());
    }
    if function == "detect" {
        return Ok(Format::detect(text(0), &given(1).ok_or("absent")?)
            .name()
            .into());
    }
    if let ("rewrite", Some(text)) = (function, text(0)) {
        return Ok(rewriter(options)?.rewrite_str(text).into());
    }
    let (data, mut found) = (given(0).ok_or("absent")?, Vec::new());
    match function {
        "messages" => Ok(Messages::new(&data[..])
            .map(|one| Ok(bytes(one?)))
            .collect::<Result<_, Box<dyn Error>>>()?),
        "rewrite" => Ok(bytes(rewriter(options)?.rewrite(&data).output())),
        "base" => Ok(serde_json::to_value(rewriter(options)?.base(&data))?),
        "links" => {
            rewriter(options)?.links(&data, |link| {
                found.push(json!(link));
                ControlFlow::Continue(())
            });
            Ok(found.into())
        }
        "rewrite_report" => {
            let rewritten = rewriter(options)?.rewrite(&data);
            let (links, diagnostics) = (&rewritten.report.links, &rewritten.totals.diagnostics);
            Ok(
                json!({"output": bytes(rewritten.output()), "links": links, "diagnostics": diagnostics}),
            )
        }
        "rewrite_links" => {
            let rewritten = rewriter(options)?.rewrite_links(&data, |link: &LinkReport| {
                found.push(json!(link));
                let target = link
                    .target
                    .as_deref()
                    .filter(|_| link.role == Role::Embedded);
                target.map_or(Choice::Kept, |target| {
                    Choice::Reference(format!("{target}#chosen"))
                })
            });
            Ok(json!([bytes(rewritten.output()), found]))
        }
        _ => Err("absent".into()),
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    for line in stdin().lines() {
        let (function, arguments, options): (String, Vec<Value>, Map<String, Value>) =
            serde_json::from_str(&line?)?;
        let found = match answer(&function, &arguments, &options) {
            Ok(value) => json!({"value": value}),
            Err(error) => json!({"error": error.to_string()}),
        };
        println!("{found}");
    }
    Ok(())
}
