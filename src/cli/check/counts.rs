//! Numbers of links by class.
//!
//! ```text
//! 4 links  -->  { travels: 3, dangling: 1 }
//! ```
//!
//! Deliberately absent: targets, which [`super::targets`] counts.

use std::collections::BTreeMap;

use baselink_rewrite::{LinkReport, base::lacks_only_scheme};
use baselink_url::Resolver;

use baselink_site::purpose::check::{Class, Finding, FindingRule};

use crate::cli::args::check::Classes;

/// Links by class.
#[derive(Clone, Debug, Default)]
pub struct ClassCounts {
    pub classes: BTreeMap<Class, usize>,
    /// The number of links that would break and that `baselink move` would fix.
    pub movable: usize,
    pub differing: usize,
    /// The number of links in the class `left` because no base is known.
    pub without_base: usize,
    /// The number of links that lack the path of the site.
    pub without_prefix: usize,
    /// The number of links that lack only a scheme.
    pub without_scheme: usize,
}

impl ClassCounts {
    /// Counts a link.
    pub fn add(&mut self, link: &LinkReport, finding: &Finding) {
        *self.classes.entry(finding.class()).or_default() += 1;
        self.differing += usize::from(link.differs);
        let is_movable = matches!(
            finding.rule,
            FindingRule::SchemeChange | FindingRule::EscapingBase | FindingRule::RootRelative
        ) || finding.class() == Class::Pinned;
        self.movable += usize::from(is_movable);
        let is_without_base = finding.rule == FindingRule::Left && finding.reason.is_none();
        self.without_base += usize::from(is_without_base);
        self.without_prefix += usize::from(finding.rule == FindingRule::NoPrefix);
        let lacks_only_scheme = || lacks_only_scheme(&link.reference, Resolver::Rfc1808);
        self.without_scheme += usize::from(is_without_base && lacks_only_scheme());
    }

    /// Counts links without details.
    pub fn add_plain(&mut self, class: Class, links: usize) {
        *self.classes.entry(class).or_default() += links;
    }

    pub fn merge(&mut self, other: &Self) {
        for (class, number) in &other.classes {
            *self.classes.entry(*class).or_default() += number;
        }
        self.movable += other.movable;
        self.differing += other.differing;
        self.without_base += other.without_base;
        self.without_prefix += other.without_prefix;
        self.without_scheme += other.without_scheme;
    }

    pub fn of(&self, class: Class) -> usize {
        self.classes.get(&class).copied().unwrap_or_default()
    }

    pub fn links(&self) -> usize {
        self.classes.values().sum()
    }

    /// The numbers of links that fail, being in one of the classes `denied`, and of those that may break.
    pub fn severity(&self, denied: &Classes) -> (usize, usize) {
        let failing = Class::ALL.iter().filter(|class| denied.contains(**class));
        let fails = failing.map(|class| self.of(*class)).sum();
        let breaks = Classes::BROKEN.iter().map(|class| self.of(*class)).sum();
        (fails, breaks)
    }
}
