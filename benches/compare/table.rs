//! Tables of numbers.
//!
//! Deliberately absent: the meaning of the numbers.

/// A table whose rows have a name and some numbers.
pub(crate) struct Table {
    columns: Vec<&'static str>,
    rows: Vec<(String, Vec<String>)>,
}

impl Table {
    pub(crate) fn new(columns: &[&'static str]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    pub(crate) fn row(&mut self, name: &str, cells: &[String]) {
        self.rows.push((name.to_owned(), cells.to_vec()));
    }

    pub(crate) fn print(&self) {
        let width = self
            .rows
            .iter()
            .map(|(name, _)| name.len())
            .max()
            .unwrap_or(0)
            .max(28);
        print!("  {:width$}", "");
        for column in &self.columns {
            print!("{column:>13}");
        }
        println!();
        for (name, cells) in &self.rows {
            print!("  {name:width$}");
            for cell in cells {
                print!("{cell:>13}");
            }
            println!();
        }
    }
}

/// Parses a size: `64M` is 64,000,000.
pub(crate) fn size(text: &str) -> u64 {
    let (digits, unit) = match text.trim_end_matches(['B', 'b']) {
        text if text.ends_with(['K', 'k']) => (&text[..text.len() - 1], 1_000),
        text if text.ends_with(['M', 'm']) => (&text[..text.len() - 1], 1_000_000),
        text if text.ends_with(['G', 'g']) => (&text[..text.len() - 1], 1_000_000_000),
        text => (text, 1),
    };
    let digits: u64 = digits
        .parse()
        .unwrap_or_else(|_| panic!("{text}: not a size"));
    digits * unit
}

pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

pub(crate) fn number(number: f64) -> String {
    if number < 99.95 {
        format!("{number:.1}")
    } else {
        format!("{number:.0}")
    }
}

pub(crate) fn ratio(ratio: f64) -> String {
    format!("{ratio:.2}")
}

pub(crate) fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}
