//! `--fix`: dead links that can only mean one file are mended in their files.
//!
//! ```text
//! <a href=Guide.html>, and the folder has guide.html  -->  <a href=guide.html>
//! ```
//!
//! A first check finds the links. A move to the same place rewrites them, so that links keep their forms.
//!
//! Deliberately absent: the choice of the remedy, which is [`Finding::remedy`].

use std::{mem::take, sync::Arc};

use baselink_files::stage::StagedMove;
#[cfg(doc)]
use baselink_site::purpose::check::Finding;
use baselink_site::{
    purpose::{
        check::targets::FullTargets,
        relocate::{LinkForm, Relocation},
        rewriting::RewriteKind,
    },
    reading::Listener,
};

use super::{baseline::Baseline, listing::Lister, tree::CheckedTree};
use crate::cli::{
    args::{
        check::{Check, CheckForm, Classes},
        output::Rewrite,
    },
    output::Output,
    rewrite::rewrite,
    status::{ExitStatus, FileResult},
};

/// Mends links of the folder, or shows what would change; `None` if the folder is to be checked afterwards.
pub fn fix(request: &mut Check, output: &mut Output) -> FileResult<Option<ExitStatus>> {
    let read = |path| Baseline::read(path, false);
    let baseline = request.baseline.as_deref().map(read).transpose()?;
    let lister = Lister {
        request,
        list: Classes::default(),
        form: CheckForm::Text,
        baseline: baseline.as_ref(),
        full: &FullTargets::default(),
        mends: true,
    };
    let (tree, _) = CheckedTree::read(&lister, &mut output.blank())?;
    let Some(root) = tree
        .collection
        .root_url()
        .filter(|_| !tree.remedies.is_empty())
    else {
        return Ok(None);
    };
    let (root, files) = (root.clone(), Arc::clone(&tree.collection));
    let mut relocation = Relocation::new(files, root.clone(), root, LinkForm::Written);
    relocation.remedies = tree.remedies;
    let mut mending = Rewrite {
        in_place: Some(String::new()),
        changes: take(&mut request.changes),
        documents: take(&mut request.documents),
        ..Rewrite::default()
    };
    mending.complete()?;
    let begin = |how| StagedMove::begin(&mending.documents.paths[0], how);
    let in_place = mending.in_place().filter(|_| !mending.is_preview());
    let staged = in_place.map(begin).transpose()?;
    let kind = RewriteKind::Moved(Arc::new(relocation), staged);
    let status = rewrite(&mending, (&kind, &[]), output)?;
    let is_preview = mending.is_preview();
    request.documents = mending.documents;
    Ok(match status {
        // A preview mends nothing, so what is denied is still there.
        ExitStatus::Done if is_preview => Some(ExitStatus::NotHeld),
        ExitStatus::Done => None,
        _ => Some(status),
    })
}
