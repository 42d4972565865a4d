//! Writing files: the properties that a file keeps, the refusals, and the state after a failed write or a kill. The
//! folders are created at run time.
//!
//! If a test needs a second process, the test program starts itself again. With `BASELINK_PART`, it plays a part (see
//! `the_part`) in the folder `BASELINK_FOLDER`. `BASELINK_KILLS` sets the number of kills of a child, by default two.
//!
//! Deliberately absent: systems other than Unix.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Debug;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use baselink_files::maildir::{is_maildir, is_message, with_sizes_of};
use baselink_files::result_folder::ResultFolder;
use baselink_files::walk::{Selection, walk};
use baselink_files::write::{
    Committed, InPlace, NewContents, NotPreserved, Original, Suffix, is_temporary,
};
use baselink_text::error::Result;
use tempfile::{TempDir, tempdir};

fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// A folder with the file `page.html`, which contains `old`.
fn scene() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let page = folder.path().join("page.html");
    put(&page, b"old");
    (folder, page)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A time long ago, in whole seconds, which every file system can store.
fn long_ago(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + seconds)
}

fn set_times(path: &Path) {
    let times = FileTimes::new()
        .set_accessed(long_ago(1))
        .set_modified(long_ago(0));
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_times(times)
        .unwrap();
}

fn names(folder: &Path) -> Vec<OsString> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    names
}

fn backed_up() -> InPlace {
    InPlace {
        backup: Some(Suffix::new(OsStr::new(".orig")).unwrap()),
        ..InPlace::default()
    }
}

fn replace(settings: &InPlace, path: &Path, bytes: &[u8]) -> Result<Vec<NotPreserved>> {
    let mut new = settings.begin(&Original::of(path)?)?;
    new.write(|out| out.write_all(bytes))?;
    new.commit().map(|committed| committed.lost)
}

/// Begins a copy of the file `input`.
fn copy(results: &ResultFolder, input: &Path, relative: &Path) -> Result<NewContents> {
    let entry = walk(&[input.to_owned()], &Selection::default()).next();
    results.copy(&entry.unwrap()?, relative)
}

/// Copies the file `input`.
fn copied(results: &ResultFolder, input: &Path, relative: &Path) -> Result<Committed> {
    copy(results, input, relative)?.commit()
}

/// The message of an error, with `DIR` for the folder of the test.
fn sentence<T: Debug>(result: Result<T>, folder: &Path) -> String {
    result
        .unwrap_err()
        .to_string()
        .replace(folder.to_str().unwrap(), "DIR")
}

fn is_root() -> bool {
    let folder = tempdir().unwrap();
    fs::metadata(folder.path()).unwrap().uid() == 0
}

mod replacement {
    use super::*;

    #[test]
    fn a_dropped_replacement_leaves_nothing() {
        let (folder, page) = scene();
        let mut new = NewContents::begin(&page).unwrap();
        new.write(|out| out.write_all(b"new")).unwrap();
        drop(new);
        assert_eq!(names(folder.path()), ["page.html"]);
        assert_eq!(fs::read(&page).unwrap(), b"old");
    }

    /// The writer fails after some bytes, as on a full disk.
    #[test]
    fn a_failed_write_leaves_the_old_file() {
        let (folder, page) = scene();
        for after in [0, 3, 100_000] {
            let mut new = NewContents::begin(&page).unwrap();
            let written = new.write(|out| {
                out.write_all(&vec![b'n'; after])?;
                Err(ErrorKind::StorageFull.into())
            });
            assert_eq!(
                sentence(written, folder.path()),
                "DIR/page.html was not written: no storage space"
            );
            drop(new);
            assert_eq!(names(folder.path()), ["page.html"]);
            assert_eq!(fs::read(&page).unwrap(), b"old");
        }
    }

    #[test]
    fn a_full_device_is_an_error_at_the_end() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            return;
        }
        let mut new = NewContents::begin(full).unwrap();
        new.write(|out| out.write_all(b"new")).unwrap();
        assert!(
            new.commit()
                .unwrap_err()
                .to_string()
                .starts_with("/dev/full was not written: ")
        );
    }

    #[test]
    fn incomplete_bytes_are_readable_only_by_the_owner() {
        let (folder, page) = scene();
        set_mode(&page, 0o644);
        let new = NewContents::begin(&page).unwrap();
        for name in names(folder.path()).iter().filter(|it| is_temporary(it)) {
            assert_eq!(mode(&folder.path().join(name)), 0o600);
        }
        new.commit().unwrap();
        assert_eq!(mode(&page), 0o644);
    }
}

mod in_place {
    use super::*;

    #[test]
    fn permission_bits_stay() {
        let (_folder, page) = scene();
        for bits in [0o600, 0o640, 0o666, 0o777, 0o2664, 0o4755] {
            set_mode(&page, bits);
            assert_eq!(replace(&InPlace::default(), &page, b"new").unwrap(), []);
            assert_eq!(mode(&page), bits, "{bits:o}");
        }
        assert_eq!(fs::read(&page).unwrap(), b"new");
    }

    #[test]
    fn times_stay_on_request() {
        let (_folder, page) = scene();
        set_times(&page);
        let settings = InPlace {
            preserve_times: true,
            ..InPlace::default()
        };
        // Reading changes the access time, which must be kept too.
        let original = Original::of(&page).unwrap();
        let mut text = String::new();
        original.open().unwrap().read_to_string(&mut text).unwrap();
        let mut new = settings.begin(&original).unwrap();
        new.write(|out| out.write_all(text.as_bytes())).unwrap();
        assert_eq!(new.commit().unwrap().lost, []);
        let metadata = fs::metadata(&page).unwrap();
        assert_eq!(metadata.modified().unwrap(), long_ago(0));
        assert_eq!(metadata.accessed().unwrap(), long_ago(1));

        replace(&InPlace::default(), &page, b"new").unwrap();
        assert_ne!(
            fs::metadata(&page).unwrap().modified().unwrap(),
            long_ago(0)
        );
    }

    #[test]
    fn the_owner_stays() {
        let (_folder, page) = scene();
        if chown(&page, Some(12_345), Some(12_346)).is_err() {
            eprintln!("notice: this user may not give files away, so owners were not tested");
            return;
        }
        set_mode(&page, 0o6755);
        assert_eq!(replace(&InPlace::default(), &page, b"new").unwrap(), []);
        let metadata = fs::metadata(&page).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (12_345, 12_346));
        assert_eq!(mode(&page), 0o6755);
    }

    #[test]
    fn an_owner_that_cannot_be_kept_is_reported() {
        if !is_root() {
            eprintln!("notice: only root can be somebody else, so this was not tested");
            return;
        }
        let (folder, page) = scene();
        set_mode(folder.path(), 0o777);
        set_mode(&page, 0o4666);
        let read_only = folder.path().join("read-only.html");
        put(&read_only, b"old");
        set_mode(&read_only, 0o644);
        let mut somebody = part("somebody", folder.path());
        somebody.uid(65_534).gid(65_534);
        if !played(somebody) {
            return;
        }
        let metadata = fs::metadata(&page).unwrap();
        assert_eq!(
            (metadata.uid(), metadata.gid(), mode(&page)),
            (65_534, 65_534, 0o666)
        );
        assert_eq!(fs::read(&page).unwrap(), b"new");
        assert_eq!(fs::read(&read_only).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["page.html", "read-only.html"]);
    }

    pub(super) fn somebody(folder: &Path) {
        let lost = replace(&InPlace::default(), &folder.join("page.html"), b"new").unwrap();
        assert_eq!(lost, [NotPreserved::Owner]);
        assert_eq!(
            sentence(
                replace(&InPlace::default(), &folder.join("read-only.html"), b"new"),
                folder
            ),
            "DIR/read-only.html: the file is read-only; make it writable first"
        );
    }

    #[test]
    fn extended_attributes_stay() {
        let (_folder, page) = scene();
        let url = "user.xdg.origin.url";
        if xattr::set(&page, url, b"http://a/b").is_err() {
            eprintln!("notice: no extended attributes here, so they were not tested");
            return;
        }
        xattr::set(&page, "user.empty", b"").unwrap();
        assert_eq!(replace(&InPlace::default(), &page, b"new").unwrap(), []);
        assert_eq!(xattr::get(&page, url).unwrap().unwrap(), b"http://a/b");
        assert_eq!(xattr::get(&page, "user.empty").unwrap().unwrap(), b"");
    }

    /// An access control list (acl(5)) as in Linux's `posix_acl_xattr.h`: version 2, then tag, bits and id of each
    /// entry.
    fn access_control_list() -> Vec<u8> {
        let none = u32::MAX;
        let entries = [
            (0x01, 6, none),
            (0x02, 4, 12_345),
            (0x04, 4, none),
            (0x10, 4, none),
            (0x20, 0, none),
        ];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, bits, id) in entries {
            list.extend(u16::to_le_bytes(tag));
            list.extend(u16::to_le_bytes(bits));
            list.extend(u32::to_le_bytes(id));
        }
        list
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_access_control_list_stays() {
        let (folder, page) = scene();
        let (list, access) = (access_control_list(), "system.posix_acl_access");
        if xattr::set(&page, access, &list).is_err() {
            eprintln!("notice: no access control lists here, so they were not tested");
            return;
        }
        assert_eq!(replace(&InPlace::default(), &page, b"new").unwrap(), []);
        assert_eq!(xattr::get(&page, access).unwrap(), Some(list.clone()));
        assert_eq!(mode(&page), 0o640);

        // The default list of the folder is for new files, and this file is not new.
        xattr::remove(&page, access).unwrap();
        set_mode(&page, 0o640);
        xattr::set(folder.path(), "system.posix_acl_default", &list).unwrap();
        assert_eq!(replace(&InPlace::default(), &page, b"new").unwrap(), []);
        assert_eq!(xattr::get(&page, access).unwrap(), None);
        assert_eq!(mode(&page), 0o640);
    }

    #[test]
    fn a_file_with_hard_links_is_skipped_unless_requested() {
        let (folder, page) = scene();
        let other = folder.path().join("other.html");
        fs::hard_link(&page, &other).unwrap();
        assert_eq!(
            sentence(replace(&InPlace::default(), &page, b"new"), folder.path()),
            "DIR/page.html: the file has 2 names (hard links); --in-place=break-links \
             replaces it under this name only"
        );
        assert_eq!(fs::read(&page).unwrap(), b"old");
        let settings = InPlace {
            break_links: true,
            ..InPlace::default()
        };
        replace(&settings, &page, b"new").unwrap();
        assert_eq!(fs::read(&page).unwrap(), b"new");
        assert_eq!(fs::read(&other).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["other.html", "page.html"]);
    }

    #[test]
    fn a_read_only_file_is_skipped() {
        let (folder, page) = scene();
        set_mode(&page, 0o444);
        let read_only = "DIR/page.html: the file is read-only; make it writable first";
        assert_eq!(
            sentence(replace(&InPlace::default(), &page, b"new"), folder.path()),
            read_only
        );
        assert_eq!(fs::read(&page).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["page.html"]);
    }

    #[test]
    fn special_files_are_refused() {
        let (folder, page) = scene();
        let at = |name: &str| folder.path().join(name);
        symlink("page.html", at("link")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(at("pipe"))
                .status()
                .unwrap()
                .success()
        );
        let not = "which is not followed";
        for (name, why) in [
            (
                "link",
                &*format!("a symbolic link, {not}; name page.html itself"),
            ),
            (
                "dangling",
                &format!("a symbolic link, {not}; name nowhere itself"),
            ),
            ("folder", "a directory"),
            ("pipe", "not a regular file"),
            ("missing", "no such file"),
        ] {
            let refused = sentence(Original::of(&at(name)), folder.path());
            assert_eq!(refused, format!("DIR/{name}: {why}"));
        }
        assert_eq!(fs::read(page).unwrap(), b"old");
    }

    /// A change by another program at any time before the commit is not undone.
    #[test]
    fn a_file_changed_meanwhile_is_skipped() {
        type Change = fn(&Path);
        let changes: [(Change, &str); 5] = [
            (|page| put(page, b"longer"), "longer"),
            (|page| put(page, b""), ""),
            (
                |page| {
                    set_times(page);
                },
                "old",
            ),
            (
                |page| {
                    put(&page.with_extension("new"), b"xyz");
                    fs::rename(page.with_extension("new"), page).unwrap();
                },
                "xyz",
            ),
            (
                |page| {
                    put(&page.with_extension("target"), b"old");
                    fs::remove_file(page).unwrap();
                    symlink("page.target", page).unwrap();
                },
                "old",
            ),
        ];
        for (number, (change, after)) in changes.into_iter().enumerate() {
            for before_begin in [true, false] {
                let (folder, page) = scene();
                let original = Original::of(&page).unwrap();
                let committed = if before_begin {
                    change(&page);
                    InPlace::default().begin(&original).map(drop)
                } else {
                    let mut new = InPlace::default().begin(&original).unwrap();
                    new.write(|out| out.write_all(b"new")).unwrap();
                    change(&page);
                    new.commit().map(drop)
                };
                assert_eq!(
                    sentence(committed, folder.path()),
                    "DIR/page.html: another program changed it meanwhile, so it was not replaced",
                    "{number}"
                );
                assert_eq!(fs::read_to_string(&page).unwrap(), after, "{number}");
                assert!(!names(folder.path()).iter().any(|name| is_temporary(name)));
                if number == 4 {
                    assert!(fs::symlink_metadata(&page).unwrap().is_symlink());
                    assert_eq!(fs::read(page.with_extension("target")).unwrap(), b"old");
                }
            }
        }
    }

    /// A change that keeps the size and the time of the file is noticed too.
    #[test]
    fn a_change_that_keeps_size_and_time_is_noticed() {
        type Change = fn(&Path);
        let changes: [(&str, Change, &str); 4] = [
            (
                "the same size and time",
                |page| {
                    let times = FileTimes::new()
                        .set_modified(fs::metadata(page).unwrap().modified().unwrap());
                    put(page, b"dlo");
                    File::options()
                        .write(true)
                        .open(page)
                        .unwrap()
                        .set_times(times)
                        .unwrap();
                },
                "dlo",
            ),
            ("permission bits", |page| set_mode(page, 0o600), "old"),
            (
                "one name more",
                |page| fs::hard_link(page, page.with_extension("b")).unwrap(),
                "old",
            ),
            (
                "its folder is another, and it is in both",
                |page| {
                    let folder = page.parent().unwrap();
                    fs::rename(folder, folder.with_extension("b")).unwrap();
                    fs::create_dir(folder).unwrap();
                    fs::rename(folder.with_extension("b").join("page.html"), page).unwrap();
                },
                "old",
            ),
        ];
        for (what, change, after) in changes {
            for settings in [
                InPlace::default(),
                InPlace {
                    break_links: true,
                    ..InPlace::default()
                },
                backed_up(),
            ] {
                let folder = tempdir().unwrap();
                let page = folder.path().join("below/page.html");
                put(&page, b"old");
                set_mode(&page, 0o644);
                set_times(&page);
                let mut new = settings.begin(&Original::of(&page).unwrap()).unwrap();
                new.write(|out| out.write_all(b"new")).unwrap();
                // The clock of a file system moves every few milliseconds.
                thread::sleep(Duration::from_millis(30));
                change(&page);
                assert_eq!(
                    sentence(new.commit(), folder.path()),
                    "DIR/below/page.html: another program changed it meanwhile, so it was not replaced",
                    "{what}"
                );
                assert_eq!(fs::read_to_string(&page).unwrap(), after, "{what}");
            }
        }
    }

    /// If a link takes the place of the folder at any step, no byte and no temporary file is written elsewhere.
    #[test]
    fn a_file_is_committed_in_the_folder_that_was_opened() {
        for step in 0..4 {
            for settings in [InPlace::default(), backed_up()] {
                let folder = tempdir().unwrap();
                let at = |name: &str| folder.path().join(name);
                for page in ["w/sub/page.html", "outside/page.html"] {
                    put(&at(page), b"old");
                }
                let walked = walk(&[at("w")], &Selection::default())
                    .next()
                    .unwrap()
                    .unwrap();
                let swap_at = |now: usize| {
                    if now == step {
                        fs::rename(at("w/sub"), at("moved")).unwrap();
                        symlink(at("outside"), at("w/sub")).unwrap();
                    }
                };
                let replaced = || {
                    swap_at(0);
                    let original = walked.original()?;
                    swap_at(1);
                    let mut text = String::new();
                    original.open()?.read_to_string(&mut text).unwrap();
                    let mut new = settings.begin(&original)?;
                    swap_at(2);
                    new.write(|out| out.write_all(b"new"))?;
                    swap_at(3);
                    new.commit()
                };
                let refused = sentence(replaced(), folder.path());
                assert!(
                    refused.starts_with("DIR/w/sub/page.html: another program "),
                    "{refused}"
                );
                for place in ["outside", "moved"] {
                    assert_eq!(names(&at(place)), ["page.html"], "{step}, {place}");
                    assert_eq!(fs::read(at(place).join("page.html")).unwrap(), b"old");
                }
            }
        }
    }

    /// Changes by this program itself do not count as changes.
    #[test]
    fn each_hard_link_of_a_file_is_replaced() {
        for settings in [InPlace::default(), backed_up()] {
            let (folder, page) = scene();
            let settings = InPlace {
                break_links: true,
                ..settings
            };
            let pages: Vec<_> = ["page.html", "a", "b", "c", "d", "e"]
                .map(|name| folder.path().join(name))
                .into();
            for other in &pages[1..] {
                fs::hard_link(&page, other).unwrap();
            }
            let begin = |path: &PathBuf| {
                let mut new = settings.begin(&Original::of(path).unwrap()).unwrap();
                new.write(|out| out.write_all(path.as_os_str().as_bytes()))
                    .unwrap();
                new
            };
            // All files are examined before the first is replaced.
            let all: Vec<_> = pages.iter().map(begin).collect();
            for new in all {
                assert_eq!(new.commit().unwrap().lost, []);
                thread::sleep(Duration::from_millis(30));
            }
            for page in &pages {
                assert_eq!(fs::read(page).unwrap(), page.as_os_str().as_bytes());
                if settings.backup.is_some() {
                    let mut backup = page.clone().into_os_string();
                    backup.push(".orig");
                    assert_eq!(fs::read(backup).unwrap(), b"old");
                }
            }
        }
    }

    /// Bug 105: replacing one name of a file seemed to be a change by another program under its other names.
    #[test]
    fn hard_links_of_a_file_are_replaced_concurrently() {
        let settings = InPlace {
            break_links: true,
            ..InPlace::default()
        };
        for _ in 0..20 {
            let folder = tempdir().unwrap();
            let pairs: Vec<_> = (0..100)
                .flat_map(|number| {
                    let [one, other] = ["one", "other"].map(|of| format!("{number}.{of}.html"));
                    put(&folder.path().join(&one), b"old");
                    fs::hard_link(folder.path().join(&one), folder.path().join(&other)).unwrap();
                    [one, other].map(|name| folder.path().join(name))
                })
                .collect();
            let begin = |path: &PathBuf| settings.begin(&Original::of(path).unwrap()).unwrap();
            let all: Vec<_> = pairs.iter().map(begin).collect();
            thread::scope(|scope| {
                for new in all {
                    scope.spawn(|| assert_eq!(new.commit().unwrap().lost, []));
                }
            });
        }
    }

    #[test]
    fn the_backup_is_the_first_original() {
        let (folder, page) = scene();
        set_mode(&page, 0o640);
        set_times(&page);
        replace(&backed_up(), &page, b"second").unwrap();
        replace(&backed_up(), &page, b"third").unwrap();
        let backup = folder.path().join("page.html.orig");
        assert_eq!(fs::read(&page).unwrap(), b"third");
        assert_eq!(fs::read(&backup).unwrap(), b"old");
        assert_eq!(mode(&backup), 0o640);
        assert_eq!(
            fs::metadata(&backup).unwrap().modified().unwrap(),
            long_ago(0)
        );
        assert_eq!(names(folder.path()), ["page.html", "page.html.orig"]);

        // A file of that name that belongs to another program is not overwritten.
        fs::write(&backup, "mine").unwrap();
        replace(&backed_up(), &page, b"fourth").unwrap();
        assert_eq!(fs::read(&backup).unwrap(), b"mine");
    }

    #[test]
    fn a_backup_must_be_a_regular_file() {
        let (folder, page) = scene();
        let backup = folder.path().join("page.html.orig");
        let outside = folder.path().join("outside");
        put(&outside, b"outside");
        let make: [&dyn Fn(); 3] = [
            &|| symlink("outside", &backup).unwrap(),
            &|| symlink("nowhere", &backup).unwrap(),
            &|| fs::create_dir(&backup).unwrap(),
        ];
        for make in make {
            let refusal = "DIR/page.html.orig: not a regular file, so it cannot be the backup; \
                           nothing was written";
            make();
            let refused = replace(&backed_up(), &page, b"new");
            assert_eq!(sentence(refused, folder.path()), refusal);
            fs::remove_dir(&backup)
                .or_else(|_| fs::remove_file(&backup))
                .unwrap();

            // The same, but created while the file is written.
            let mut new = backed_up().begin(&Original::of(&page).unwrap()).unwrap();
            new.write(|out| out.write_all(b"new")).unwrap();
            make();
            assert_eq!(sentence(new.commit(), folder.path()), refusal);
            fs::remove_dir(&backup)
                .or_else(|_| fs::remove_file(&backup))
                .unwrap();

            assert_eq!(fs::read(&page).unwrap(), b"old");
            assert_eq!(names(folder.path()), ["outside", "page.html"]);
        }
        assert_eq!(fs::read(outside).unwrap(), b"outside");
    }

    #[test]
    fn the_backup_of_a_hard_link_is_a_separate_file() {
        let (folder, page) = scene();
        let other = folder.path().join("other.html");
        fs::hard_link(&page, &other).unwrap();
        set_mode(&page, 0o640);
        replace(
            &InPlace {
                break_links: true,
                ..backed_up()
            },
            &page,
            b"new",
        )
        .unwrap();
        fs::write(&other, "changed").unwrap();
        let backup = folder.path().join("page.html.orig");
        assert_eq!(fs::read(&backup).unwrap(), b"old");
        assert_eq!(mode(&backup), 0o640);
        assert_eq!(
            names(folder.path()),
            ["other.html", "page.html", "page.html.orig"]
        );
    }

    /// A run that is killed between backup and replacement leaves the file under both names.
    #[test]
    fn a_killed_run_does_not_stop_the_next() {
        let (folder, page) = scene();
        let backup = folder.path().join("page.html.orig");
        fs::hard_link(&page, &backup).unwrap();
        replace(&backed_up(), &page, b"new").unwrap();
        assert_eq!(fs::read(&page).unwrap(), b"new");
        assert_eq!(fs::read(&backup).unwrap(), b"old");

        // A third name is still refused.
        let (folder, page) = scene();
        for name in ["page.html.orig", "other.html"] {
            fs::hard_link(&page, folder.path().join(name)).unwrap();
        }
        assert!(replace(&backed_up(), &page, b"new").is_err());
    }

    #[test]
    fn backups_are_not_rewritten() {
        let folder = tempdir().unwrap();
        let backup = folder.path().join("page.html.orig");
        put(&backup, b"old");
        assert_eq!(
            sentence(replace(&backed_up(), &backup, b"new"), folder.path()),
            "DIR/page.html.orig: named like a backup; skipped"
        );
        assert_eq!(names(folder.path()), ["page.html.orig"]);
        let suffix = Suffix::new(OsStr::new(".orig")).unwrap();
        assert!(suffix.ends(OsStr::new("a.orig")) && !suffix.ends(OsStr::new("a.orig.html")));
        for suffix in ["", "/", "a/b", "../x", "a\0", ".a\0", "./x", "orig", "_old"] {
            assert!(Suffix::new(OsStr::new(suffix)).is_err(), "{suffix:?}");
        }
    }

    #[test]
    fn names_are_bytes() {
        let folder = tempdir().unwrap();
        for name in [&b"caf\xe9.html"[..], b"a\nb", b" ", b"-", b"\xff"] {
            let page = folder.path().join(OsStr::from_bytes(name));
            put(&page, b"old");
            replace(&backed_up(), &page, b"new").unwrap();
            assert_eq!(fs::read(&page).unwrap(), b"new");
            let backup = [name, b".orig"].concat();
            let backup = folder.path().join(OsStr::from_bytes(&backup));
            assert_eq!(fs::read(backup).unwrap(), b"old");
        }
        assert_eq!(names(folder.path()).len(), 10);
        let page = folder.path().join("a\nb");
        set_mode(&page, 0o444);
        let refused = sentence(replace(&InPlace::default(), &page, b""), folder.path());
        assert_eq!(
            refused,
            "DIR/a\\nb: the file is read-only; make it writable first"
        );
    }

    #[test]
    fn a_backup_that_cannot_be_made_leaves_the_old_file() {
        let folder = tempdir().unwrap();
        // NAME_MAX is 255 bytes.
        let page = folder.path().join("x".repeat(255));
        put(&page, b"old");
        assert!(replace(&backed_up(), &page, b"new").is_err());
        assert_eq!(fs::read(&page).unwrap(), b"old");
        assert_eq!(names(folder.path()).len(), 1);
        replace(&InPlace::default(), &page, b"new").unwrap();
        assert_eq!(fs::read(&page).unwrap(), b"new");
    }
}

mod output_folder {
    use super::*;

    /// A folder with the input `in/page.html`, and an output folder in `out`.
    fn scene() -> (TempDir, PathBuf, PathBuf) {
        let folder = tempdir().unwrap();
        let page = folder.path().join("in/page.html");
        put(&page, b"old");
        let out = folder.path().join("out");
        (folder, page, out)
    }

    fn write(results: &ResultFolder, input: &Path, relative: &[u8], bytes: &[u8]) -> Result<()> {
        let mut file = results.begin(input, Path::new(OsStr::from_bytes(relative)), None)?;
        file.write(|out| out.write_all(bytes))?;
        file.commit().map(drop)
    }

    #[test]
    fn a_message_of_a_maildir_keeps_its_times() {
        let (folder, _, out) = scene();
        let maildir = folder.path().join("in");
        for part in ["cur", "new", "tmp"] {
            fs::create_dir(maildir.join(part)).unwrap();
        }
        for (path, is_kept) in [("cur/1.h:2,S", true), ("notes.html", false)] {
            put(&maildir.join(path), b"old");
            super::set_times(&maildir.join(path));
            let results = ResultFolder::new(&out).unwrap();
            write(&results, &maildir.join(path), path.as_bytes(), b"new").unwrap();
            let modified = fs::metadata(out.join(path)).unwrap().modified().unwrap();
            assert_eq!(modified == long_ago(0), is_kept, "{path}");
        }
    }

    #[test]
    fn a_file_with_the_same_bytes_is_not_written() {
        let (_folder, page, out) = scene();
        let write = |bytes: &[u8]| {
            let results = ResultFolder::new(&out).unwrap();
            let mut new = results.begin(&page, "page.html".as_ref(), None).unwrap();
            new.write(|out| out.write_all(bytes)).unwrap();
            new.commit().unwrap();
            fs::metadata(out.join("page.html")).unwrap().ino()
        };
        let first = write(b"same");
        assert_eq!(write(b"same"), first);
        assert_ne!(write(b"SAME"), first);
        assert_eq!(fs::read(out.join("page.html")).unwrap(), b"SAME");
        assert_eq!(names(&out), ["page.html"]);
    }

    #[test]
    fn folders_are_created_and_files_written() {
        let (_folder, page, out) = scene();
        set_mode(&page, 0o640);
        let results = ResultFolder::new(&out).unwrap();
        assert!(!out.exists(), "nothing is made before something is written");
        write(&results, &page, b"a/b/\xff.html", b"new").unwrap();
        copied(&results, &page, Path::new("a/c\n")).unwrap();
        results
            .folder(page.parent().unwrap(), Path::new("empty"))
            .unwrap();
        let written = out.join("a/b").join(OsStr::from_bytes(b"\xff.html"));
        assert_eq!(fs::read(&written).unwrap(), b"new");
        assert_eq!(mode(&written), 0o640);
        assert_eq!(fs::read(out.join("a/c\n")).unwrap(), b"old");
        assert_eq!(mode(&out.join("a/c\n")), 0o640);
        assert!(out.join("empty").is_dir());
        assert_eq!(names(&out.join("a")), ["b", "c\n"]);
    }

    /// The umask is set by a shell, because the test process cannot change its own for one test.
    #[test]
    fn permission_bits_are_those_of_cp() {
        for umask in ["000", "022", "027", "077"] {
            let folder = tempdir().unwrap();
            let program = part(&format!("umask-{umask}"), folder.path());
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]);
            shell.arg(program.get_program()).args(program.get_args());
            shell.envs(
                program
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
            assert!(played(shell));
        }
    }

    pub(super) fn with_umask(folder: &Path, umask: u32) {
        let (input, out) = (folder.join("in"), folder.join("out"));
        let page = input.join("a/page.html");
        put(&page, b"old");
        fs::create_dir(input.join("empty")).unwrap();
        // The bits of a file, and the same bits without setuid and setgid.
        for (number, (bits, lent)) in [
            (0o600, 0o600),
            (0o666, 0o666),
            (0o444, 0o444),
            (0o755, 0o755),
            (0o6777, 0o777),
            (0o000, 0o000),
        ]
        .into_iter()
        .enumerate()
        {
            if bits == 0 && !is_root() {
                continue;
            }
            set_mode(&page, bits);
            // The second time, there is the output of an earlier run.
            for _ in 0..2 {
                let results = ResultFolder::new(&out).unwrap();
                let written = write(&results, &page, format!("w{number}").as_bytes(), b"new");
                let copied = copied(&results, &page, Path::new(&format!("c{number}")));
                assert_eq!((written.unwrap(), copied.unwrap().lost), ((), vec![]));
                for name in ["w", "c"] {
                    let given = mode(&out.join(format!("{name}{number}")));
                    assert_eq!(given, lent & !umask, "{bits:o} with {umask:o}");
                }
            }
        }
        // The bits of a folder, which must be writable to be filled.
        set_mode(&page, 0o644);
        for (number, bits) in [0o755, 0o700, 0o2775, 0o1777, 0o555, 0o500]
            .into_iter()
            .enumerate()
        {
            set_mode(&input, bits);
            set_mode(&input.join("a"), bits);
            set_mode(&input.join("empty"), bits);
            let out = folder.join(format!("folders{number}"));
            let results = ResultFolder::new(&out).unwrap();
            write(&results, &page, b"a/page.html", b"new").unwrap();
            results
                .folder(&input.join("empty"), Path::new("empty"))
                .unwrap();
            // A folder with another name, in a folder that the input lacks.
            write(&results, &page, b"else/b/page.html", b"new").unwrap();
            let given = (bits & 0o777 | 0o700) & !umask;
            for name in ["", "a", "empty", "else/b"] {
                assert_eq!(
                    mode(&out.join(name)) & 0o777,
                    given,
                    "{name} {bits:o} with {umask:o}"
                );
            }
            assert_eq!(mode(&out.join("else")) & 0o777, 0o777 & !umask);
        }
        set_mode(&input, 0o700);
    }

    #[test]
    fn times_stay_on_request() {
        let (folder, page, out) = scene();
        let input = folder.path().join("in");
        put(&input.join("a/b.html"), b"old");
        fs::create_dir(input.join("empty")).unwrap();
        for (path, later) in [
            ("a/b.html", 0),
            ("page.html", 10),
            ("a", 20),
            ("empty", 30),
            ("", 40),
        ] {
            let times = FileTimes::new().set_accessed(long_ago(later + 1));
            let times = times.set_modified(long_ago(later));
            File::open(input.join(path))
                .unwrap()
                .set_times(times)
                .unwrap();
        }
        let modified = |path: &str| fs::metadata(out.join(path)).unwrap().modified().unwrap();
        let mut results = ResultFolder::new(&out).unwrap();
        results.preserve_times = true;
        write(&results, &input.join("a/b.html"), b"a/b.html", b"new").unwrap();
        copied(&results, &page, Path::new("page.html")).unwrap();
        results
            .folder(&input.join("empty"), Path::new("empty"))
            .unwrap();
        results.finish().unwrap();
        for (path, later) in [
            ("a/b.html", 0),
            ("page.html", 10),
            ("a", 20),
            ("empty", 30),
            ("", 40),
        ] {
            assert_eq!(modified(path), long_ago(later), "{path}");
        }
        // An existing folder keeps its own times; a file of an earlier run gets those of its input.
        let results = ResultFolder::new(&out).unwrap();
        write(&results, &input.join("a/b.html"), b"a/b.html", b"newer").unwrap();
        results.finish().unwrap();
        assert!(modified("a/b.html") > long_ago(100) && modified("a") > long_ago(100));
        let mut results = ResultFolder::new(&out).unwrap();
        results.preserve_times = true;
        write(&results, &input.join("a/b.html"), b"a/b.html", b"new").unwrap();
        results.finish().unwrap();
        assert_eq!(modified("a/b.html"), long_ago(0));
        assert!(modified("a") > long_ago(100));
    }

    /// If a new folder is replaced by a link, the target of the link keeps its times.
    #[test]
    fn times_are_not_set_through_a_link() {
        let (folder, page, out) = scene();
        let outside = folder.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::create_dir(folder.path().join("in/a")).unwrap();
        let before = fs::metadata(&outside).unwrap().modified().unwrap();
        let times = FileTimes::new().set_modified(long_ago(0));
        File::open(folder.path().join("in/a"))
            .unwrap()
            .set_times(times)
            .unwrap();
        let mut results = ResultFolder::new(&out).unwrap();
        results.preserve_times = true;
        results
            .folder(&folder.path().join("in/a"), Path::new("a"))
            .unwrap();
        fs::remove_dir(out.join("a")).unwrap();
        symlink(&outside, out.join("a")).unwrap();
        results.finish().unwrap();
        assert_eq!(fs::metadata(&outside).unwrap().modified().unwrap(), before);
        assert_eq!(fs::read(page).unwrap(), b"old");
    }

    #[test]
    fn a_file_of_an_earlier_run_is_replaced() {
        let (_folder, page, out) = scene();
        write(&ResultFolder::new(&out).unwrap(), &page, b"a", b"first").unwrap();
        fs::hard_link(out.join("a"), out.join("other")).unwrap();
        write(&ResultFolder::new(&out).unwrap(), &page, b"a", b"second").unwrap();
        assert_eq!(fs::read(out.join("a")).unwrap(), b"second");
        assert_eq!(
            fs::read(out.join("other")).unwrap(),
            b"first",
            "links are not written through"
        );
    }

    /// The output of an earlier run from read-only input is read-only too.
    #[test]
    fn read_only_output_of_read_only_input_is_replaced() {
        let (folder, page, out) = scene();
        set_mode(&page, 0o444);
        for bytes in [b"1", b"2"] {
            let results = ResultFolder::new(&out).unwrap();
            write(&results, &page, b"written", bytes).unwrap();
            copied(&results, &page, Path::new("copied")).unwrap();
            assert_eq!(fs::read(out.join("written")).unwrap(), bytes);
            assert_eq!(fs::read(out.join("copied")).unwrap(), b"old");
            assert_eq!(
                (mode(&out.join("written")), mode(&out.join("copied"))),
                (0o444, 0o444)
            );
        }
        // The input is writable, so no run made the output read-only.
        set_mode(&page, 0o644);
        let results = ResultFolder::new(&out).unwrap();
        assert_eq!(
            sentence(write(&results, &page, b"written", b"3"), folder.path()),
            "DIR/out/written: the file is read-only; make it writable first"
        );
        assert_eq!(fs::read(out.join("written")).unwrap(), b"2");
        assert_eq!(names(&out), ["copied", "written"]);
    }

    #[test]
    fn no_name_leads_outside_the_folder() {
        let (folder, page, out) = scene();
        let absolute = folder.path().join("absolute");
        let results = ResultFolder::new(&out).unwrap();
        let names_of_attackers: [&[u8]; 14] = [
            b"..",
            b"../x",
            b"a/../../x",
            b"a/..",
            b"a/../b",
            b"/",
            b"",
            b".",
            b"./..",
            b"..//x",
            absolute.as_os_str().as_bytes(),
            b"a\0b",
            b"a\0/b",
            b"../out/x",
        ];
        for name in names_of_attackers {
            let refused = sentence(write(&results, &page, name, b"new"), folder.path());
            assert!(
                refused.ends_with("' is not a path inside the output folder DIR/out"),
                "{refused}"
            );
            let relative = Path::new(OsStr::from_bytes(name));
            assert!(copied(&results, &page, relative).is_err(), "{relative:?}");
        }
        assert_eq!(names(folder.path()), ["in"]);
        // Names that only look like parent folders or roots are valid.
        for name in [
            &b"..."[..],
            b"a/.../..b",
            b"~",
            b"C:",
            b"a\\..\\..\\x",
            b"%2e%2e/x",
        ] {
            write(&results, &page, name, b"new").unwrap();
        }
        assert_eq!(names(folder.path()), ["in", "out"]);
    }

    #[test]
    fn symbolic_links_in_the_output_are_not_followed() {
        let (folder, page, out) = scene();
        let outside = folder.path().join("outside");
        put(&outside.join("file"), b"outside");
        fs::create_dir_all(out.join("real")).unwrap();
        symlink(&outside, out.join("folder")).unwrap();
        symlink(&outside, out.join("real/folder")).unwrap();
        symlink(outside.join("file"), out.join("file")).unwrap();
        symlink(outside.join("new"), out.join("dangling")).unwrap();
        symlink("real", out.join("inside")).unwrap();
        let results = ResultFolder::new(&out).unwrap();
        let through = [
            "folder/x",
            "folder/file",
            "real/folder/x/y",
            "file",
            "dangling",
            "dangling/x",
            "inside/x",
            "folder",
        ];
        for name in through {
            for copy in [true, false] {
                let refused = match copy {
                    true => copied(&results, &page, Path::new(name)).map(drop),
                    false => write(&results, &page, name.as_bytes(), b"new"),
                };
                let refused = sentence(refused, folder.path());
                // The second attempt may be refused because the first has reserved the name.
                assert!(
                    refused.contains("a symbolic link, which is not followed")
                        || refused.contains("would be written from"),
                    "{refused}"
                );
            }
        }
        assert_eq!(names(&outside), ["file"]);
        assert_eq!(fs::read(outside.join("file")).unwrap(), b"outside");
        assert!(names(&out.join("real")) == ["folder"]);
    }

    #[test]
    fn a_link_created_between_two_files_is_not_followed() {
        let (folder, page, out) = scene();
        let outside = folder.path().join("outside");
        fs::create_dir(&outside).unwrap();
        let results = ResultFolder::new(&out).unwrap();
        write(&results, &page, b"a/1", b"new").unwrap();
        fs::rename(out.join("a"), out.join("moved")).unwrap();
        symlink(&outside, out.join("a")).unwrap();
        assert!(write(&results, &page, b"a/2", b"new").is_err());
        // The same for the output folder itself.
        fs::rename(&out, folder.path().join("moved")).unwrap();
        symlink(&outside, &out).unwrap();
        assert!(write(&results, &page, b"3", b"new").is_err());
        assert!(names(&outside).is_empty());
    }

    /// A file gets its name in the folder in which it was begun.
    #[test]
    fn a_link_created_before_the_file_is_named_is_not_followed() {
        for earlier in [None, Some("earlier")] {
            let (folder, page, out) = scene();
            let outside = folder.path().join("outside");
            put(&outside.join("1"), b"outside");
            if let Some(earlier) = earlier {
                put(&out.join("a/1"), earlier.as_bytes());
            }
            let results = ResultFolder::new(&out).unwrap();
            let mut file = results.begin(&page, Path::new("a/1"), None).unwrap();
            file.write(|out| out.write_all(b"new")).unwrap();
            let dropped = results.begin(&page, Path::new("a/2"), None).unwrap();
            let result = results.begin_new(&page, Path::new("a/3")).unwrap();
            fs::rename(out.join("a"), folder.path().join("moved")).unwrap();
            symlink(&outside, out.join("a")).unwrap();
            file.commit().unwrap();
            result.commit().unwrap();
            drop(dropped);
            assert_eq!(names(&outside), ["1"]);
            assert_eq!(fs::read(outside.join("1")).unwrap(), b"outside");
            assert_eq!(names(&folder.path().join("moved")), ["1", "3"]);
            assert_eq!(fs::read(folder.path().join("moved/1")).unwrap(), b"new");
            assert!(results.begin_new(&page, Path::new("a/4")).is_err());
        }
    }

    /// The message about a file that another program created before the new file got its name.
    const OF_OTHERS: &str = "another program created a file with this name, or with a name that this file system treats as \
     the same; that file was kept";

    /// A folder in which a file was written is cached, but its contents may have changed since.
    #[test]
    fn later_files_of_a_folder_are_written_like_the_first() {
        let (folder, page, out) = scene();
        fs::create_dir(folder.path().join("real")).unwrap();
        symlink("real", folder.path().join("link")).unwrap();
        set_mode(&page, 0o640);
        for out in [out, folder.path().join("link/out")] {
            put(&out.join("a/there"), b"earlier");
            symlink(&page, out.join("a/link")).unwrap();
            let results = ResultFolder::new(&out).unwrap();
            for name in ["a/1", "a/2", "a/there"] {
                write(&results, &page, name.as_bytes(), b"new").unwrap();
                assert_eq!(fs::read(out.join(name)).unwrap(), b"new");
                assert_eq!(mode(&out.join(name)), 0o640, "{name}");
            }
            let refused = write(&results, &page, b"a/link", b"new")
                .unwrap_err()
                .to_string();
            assert!(
                refused.contains("/out/a/link: a symbolic link, which is"),
                "{refused}"
            );
            // A dropped file leaves nothing.
            drop(results.begin(&page, Path::new("a/3"), None).unwrap());
            assert_eq!(names(&out.join("a")), ["1", "2", "link", "there"]);
            let file = results.begin(&page, Path::new("a/4"), None).unwrap();
            put(&out.join("a/4"), b"theirs");
            assert!(file.commit().is_err());
            assert_eq!(fs::read(out.join("a/4")).unwrap(), b"theirs");
            fs::remove_dir_all(out.join("a")).unwrap();
            write(&results, &page, b"a/5", b"new").unwrap();
            assert_eq!(names(&out.join("a")), ["5"]);
            // Also in a folder that this run created.
            write(&results, &page, b"b/1", b"new").unwrap();
            symlink(&page, out.join("b/2")).unwrap();
            fs::create_dir(out.join("b/3")).unwrap();
            for name in ["b/2", "b/3"] {
                let refused = write(&results, &page, name.as_bytes(), b"new");
                let refused = refused.unwrap_err().to_string();
                let sentence = format!("/out/{name} was not written: {OF_OTHERS}");
                assert!(refused.ends_with(&sentence), "{refused}");
            }
            assert_eq!(names(&out.join("b")), ["1", "2", "3"]);
            fs::remove_dir_all(out.join("a")).unwrap();
            put(&out.join("a"), b"theirs");
            let refused = write(&results, &page, b"a/6", b"new")
                .unwrap_err()
                .to_string();
            assert!(refused.ends_with("/out/a: not a folder"), "{refused}");
        }
        assert_eq!(fs::read(page).unwrap(), b"old");
    }

    #[test]
    fn the_output_folder_must_be_a_directory() {
        let (folder, page, out) = scene();
        fs::create_dir(folder.path().join("real")).unwrap();
        symlink("real", &out).unwrap();
        let refusal = "DIR/out: a symbolic link, which is not followed; name real itself";
        assert_eq!(sentence(ResultFolder::new(&out), folder.path()), refusal);
        assert_eq!(
            sentence(ResultFolder::new(&out.join("")), folder.path()),
            refusal
        );
        assert_eq!(
            sentence(ResultFolder::new(&page), folder.path()),
            "DIR/in/page.html: not a folder"
        );
        let missing = folder.path().join("no/such");
        assert_eq!(
            sentence(ResultFolder::new(&missing), folder.path()),
            "DIR/no/such: the folder DIR/no does not exist"
        );
        // A link in the path to the output folder is the choice of the user.
        let results = ResultFolder::new(&out.join("below")).unwrap();
        write(&results, &page, b"a", b"new").unwrap();
        assert_eq!(
            fs::read(folder.path().join("real/below/a")).unwrap(),
            b"new"
        );
    }

    #[test]
    fn special_files_are_not_replaced() {
        let (folder, page, out) = scene();
        put(&out.join("folder/file"), b"there");
        put(&out.join("read-only"), b"there");
        set_mode(&out.join("read-only"), 0o444);
        assert!(
            Command::new("mkfifo")
                .arg(out.join("pipe"))
                .status()
                .unwrap()
                .success()
        );
        let results = ResultFolder::new(&out).unwrap();
        for (name, why) in [
            ("folder", "DIR/out/folder: not a regular file"),
            ("pipe", "DIR/out/pipe: not a regular file"),
            (
                "read-only",
                "DIR/out/read-only: the file is read-only; make it writable first",
            ),
            ("read-only/x", "DIR/out/read-only: not a folder"),
            ("pipe/x", "DIR/out/pipe: not a folder"),
        ] {
            let refused = write(&results, &page, name.as_bytes(), b"new");
            assert_eq!(sentence(refused, folder.path()), why);
        }
        assert_eq!(names(&out), ["folder", "pipe", "read-only"]);
    }

    #[test]
    fn two_inputs_have_two_outputs() {
        let (folder, page, out) = scene();
        let other = folder.path().join("in/other.html");
        put(&other, b"other");
        let results = ResultFolder::new(&out).unwrap();
        write(&results, &page, b"a/x", b"new").unwrap();
        let refusal = "DIR/out/a/x would be written from DIR/in/other.html, but was already written from DIR/in/page.html";
        assert_eq!(
            sentence(write(&results, &other, b"a/x", b"2"), folder.path()),
            refusal
        );
        assert_eq!(
            sentence(write(&results, &other, b"a//x/", b"2"), folder.path()),
            refusal
        );
        assert_eq!(
            sentence(copied(&results, &other, Path::new("a/x")), folder.path()),
            refusal
        );
        // Stands for a file system on which `X` and `x` are the same name.
        fs::hard_link(out.join("a/x"), out.join("a/X")).unwrap();
        assert_eq!(
            sentence(write(&results, &other, b"a/X", b"2"), folder.path()),
            format!("DIR/out/a/X was not written: {OF_OTHERS}")
        );
        assert_eq!(fs::read(out.join("a/x")).unwrap(), b"new");
    }

    #[test]
    fn a_file_created_meanwhile_is_kept() {
        let (folder, page, out) = scene();
        let results = ResultFolder::new(&out).unwrap();
        let file = results.begin(&page, Path::new("a"), None).unwrap();
        put(&out.join("a"), b"theirs");
        assert_eq!(
            sentence(file.commit(), folder.path()),
            format!("DIR/out/a was not written: {OF_OTHERS}")
        );
        assert_eq!(fs::read(out.join("a")).unwrap(), b"theirs");
        assert_eq!(names(&out), ["a"]);
    }

    #[test]
    fn a_failed_write_leaves_nothing_or_the_old_file() {
        let (_folder, page, out) = scene();
        put(&out.join("there"), b"earlier");
        let results = ResultFolder::new(&out).unwrap();
        for name in ["new", "there"] {
            let mut file = results.begin(&page, Path::new(name), None).unwrap();
            let written = file.write(|out| {
                out.write_all(&[b'n'; 20_000])?;
                Err(ErrorKind::StorageFull.into())
            });
            assert!(written.is_err());
        }
        assert_eq!(names(&out), ["there"]);
        assert_eq!(fs::read(out.join("there")).unwrap(), b"earlier");
    }

    #[test]
    fn input_and_output_do_not_contain_each_other() {
        let folder = tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        put(&at("site/a/page.html"), b"old");
        put(&at("site2/page.html"), b"old");
        symlink("site", at("link")).unwrap();
        let within = "DIR/OUT: the output folder is in the input DIR/IN";
        let holds = "DIR/OUT: the output folder contains the input DIR/IN";
        let itself = "DIR/OUT: the output folder is the input itself";
        for (out, input, why) in [
            ("site", "site", itself),
            ("site", "link", itself),
            ("site/../site", "site", itself),
            ("site/out", "site", within),
            ("site/out", "link", within),
            ("link/out", "site", within),
            ("site/a", "site", within),
            ("site", "site/a", holds),
            ("site", "site/a/page.html", holds),
            ("site", "link/a/page.html", holds),
            ("site", "site2", ""),
            ("site2", "site", ""),
            ("out", "site", ""),
            ("site/out", "site/a", ""),
            ("sit", "site", ""),
            ("site/page", "site/a/page.html", ""),
        ] {
            let results = ResultFolder::new(&at(out)).unwrap();
            let conflict = results.require_apart(&at(input), "").err();
            let conflict = conflict.map(|error| error.to_string()).unwrap_or_default();
            let conflict = conflict.trim_end_matches("; name another");
            let why = why
                .replace("DIR/OUT", at(out).to_str().unwrap())
                .replace("DIR/IN", at(input).to_str().unwrap());
            assert_eq!(conflict, why, "{out} {input}");
        }
        let results = ResultFolder::new(&at("out")).unwrap();
        assert!(results.require_apart(&at("missing"), "").is_err());
        assert_eq!(names(folder.path()), ["link", "site", "site2"]);
    }

    /// A folder that is mounted twice has two names without a symbolic link in them.
    #[test]
    fn input_and_output_are_compared_by_identity() {
        let folder = tempdir().unwrap();
        fs::create_dir_all(folder.path().join("site/a")).unwrap();
        fs::create_dir(folder.path().join("same")).unwrap();
        let program = part("mounted-twice", folder.path());
        let mut shell = Command::new("unshare");
        let script = "cd \"$BASELINK_FOLDER\" && mount --bind site same && exec \"$0\" \"$@\"";
        shell.args(["-rm", "sh", "-c", script]);
        shell.arg(program.get_program()).args(program.get_args());
        shell.envs(
            program
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        played(shell);
    }

    pub(super) fn mounted_twice(folder: &Path) {
        let at = |name: &str| folder.join(name);
        for (out, input) in [("same", "site"), ("same/a/out", "site"), ("site", "same/a")] {
            let results = ResultFolder::new(&at(out)).unwrap();
            assert!(
                results.require_apart(&at(input), "").is_err(),
                "{out} {input}"
            );
        }
        let results = ResultFolder::new(&at("same/b")).unwrap();
        assert!(results.require_apart(&at("site/a"), "").is_ok());
    }

    #[test]
    fn several_threads_can_write_one_folder() {
        let (_folder, page, out) = scene();
        let results = ResultFolder::new(&out).unwrap();
        thread::scope(|scope| {
            for number in 0..8 {
                let (results, page) = (&results, &page);
                scope.spawn(move || {
                    for file in 0..40 {
                        let name = format!("{}/{}/{number}-{file}", file % 5, file % 3);
                        write(results, page, name.as_bytes(), name.as_bytes()).unwrap();
                    }
                });
            }
        });
        for number in 0..8 {
            for file in 0..40 {
                let name = format!("{}/{}/{number}-{file}", file % 5, file % 3);
                assert_eq!(fs::read_to_string(out.join(&name)).unwrap(), name);
            }
        }
    }
}

mod maildir {
    use super::*;

    pub(super) fn maildir() -> TempDir {
        let folder = tempdir().unwrap();
        for name in ["cur", "new", "tmp"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        folder
    }

    pub(super) fn deliver(path: &Path, bytes: &[u8]) -> Result<Committed> {
        let mut new = InPlace::default().begin(&Original::of(path)?)?;
        new.write(|out| out.write_all(bytes))?;
        new.commit()
    }

    #[test]
    fn maildir_names_with_sizes_get_new_sizes() {
        for (old, new) in [
            (&b"1.h"[..], &b"1.h"[..]),
            (b"1.h:2,S", b"1.h:2,S"),
            (b"1.h,S=1,W=2:2,FS", b"1.h,S=30,W=33:2,FS"),
            (b"1.h,U=5,W=2,x,S=1", b"1.h,U=5,W=33,x,S=30"),
            (b"1.h,S=1,S=2:2,S", b"1.h,S=30,S=30:2,S"),
            // These are not sizes: no digits or more than digits, text after the colon, another letter.
            (b"1.h,S=,W=1x,s=3:2,,S=4", b"1.h,S=,W=1x,s=3:2,,S=4"),
            (b"1.h,,S=:2,,S=4", b"1.h,,S=:2,,S=4"),
            (b"S=1:2,S", b"S=1:2,S"),
            // Other characters take the place of the colon on systems whose names cannot contain one.
            (b"1.h,S=14;2,S", b"1.h,S=30;2,S"),
            (b"1.h,S=1!2,S", b"1.h,S=30!2,S"),
            (b"\xff,S=99999999999999999999:2,\xfe", b"\xff,S=30:2,\xfe"),
        ] {
            let path = Path::new(OsStr::from_bytes(old));
            let named = with_sizes_of(path, |out| {
                [&b"1\n\n\r\n"[..], &[b'a'; 24], b"\n"]
                    .iter()
                    .try_for_each(|part| out.write_all(part))
            });
            assert_eq!(named.unwrap(), Path::new(OsStr::from_bytes(new)));
        }
    }

    #[test]
    fn a_name_can_be_chosen_before_the_message_is_written() {
        // `a CR LF b LF LF`: six bytes, and eight with each line end as CR LF.
        let text = b"a\r\nb\n\n";
        for (old, new) in [
            ("in/cur/1.h,S=1,W=2:2,FS", "in/cur/1.h,S=6,W=8:2,FS"),
            ("new/2.h,S=1", "new/2.h,S=6"),
            ("3.h:2,T", "3.h:2,T"),
        ] {
            let named = with_sizes_of(Path::new(old), |out| out.write_all(text)).unwrap();
            assert_eq!(named, Path::new(new));
        }
        let failed = with_sizes_of(Path::new("1.h"), |_| Err(ErrorKind::Other.into()));
        assert!(failed.is_err());
    }

    #[test]
    fn maildirs_and_messages_are_recognised() {
        let folder = maildir();
        let at = |name: &str| folder.path().join(name);
        assert!(is_maildir(folder.path()));
        assert!(!is_maildir(&at("cur")) && !is_maildir(&at("missing")));
        for (name, expected) in [
            ("cur/1", true),
            ("new/1", true),
            ("tmp/1", false),
            ("cur/.1", false),
            ("1", false),
            ("cur/a/1", false),
        ] {
            assert_eq!(is_message(&at(name)), expected, "{name}");
        }
        fs::remove_dir(at("tmp")).unwrap();
        assert!(!is_maildir(folder.path()) && !is_message(&at("cur/1")));
    }

    #[test]
    fn a_message_keeps_its_flags_and_gets_its_sizes() {
        let folder = maildir();
        // `a CR LF b LF LF`: six bytes, and eight with each line end as CR LF.
        let text = b"a\r\nb\n\n";
        for (old, new) in [
            ("cur/1.h,S=1,W=2:2,FS", "cur/1.h,S=6,W=8:2,FS"),
            ("new/2.h,S=1", "new/2.h,S=6"),
            ("cur/3.h:2,T", "cur/3.h:2,T"),
            ("cur/4.h,S=6:2,", "cur/4.h,S=6:2,"),
        ] {
            let old = folder.path().join(old);
            put(&old, b"x");
            set_mode(&old, 0o640);
            set_times(&old);
            let delivered = deliver(&old, text).unwrap();
            let new = folder.path().join(new);
            assert_eq!(
                delivered,
                Committed {
                    path: new.clone(),
                    lost: vec![]
                }
            );
            assert_eq!(fs::read(&new).unwrap(), text);
            assert_eq!(mode(&new), 0o640);
            // The time of the file is the time of delivery.
            assert_eq!(fs::metadata(&new).unwrap().modified().unwrap(), long_ago(0));
            assert!(new == old || !old.exists());
        }
        assert_eq!(names(&folder.path().join("cur")).len(), 3);
        assert_eq!(names(&folder.path().join("new")).len(), 1);
        assert!(names(&folder.path().join("tmp")).is_empty());
    }

    #[test]
    fn another_file_of_the_new_name_is_never_overwritten() {
        let folder = maildir();
        let old = folder.path().join("cur/1.h,S=3:2,S");
        let taken = folder.path().join("cur/1.h,S=4:2,S");
        put(&old, b"old");
        put(&taken, b"othr");
        assert_eq!(
            sentence(deliver(&old, b"new\n"), folder.path()),
            "DIR/cur/1.h,S=3:2,S was not written: DIR/cur/1.h,S=4:2,S: another file has that name"
        );
        fs::remove_file(&taken).unwrap();
        put(&folder.path().join("target"), b"new\n");
        symlink("../target", &taken).unwrap();
        assert!(deliver(&old, b"new\n").is_err());
        assert_eq!(fs::read(&old).unwrap(), b"old");
        assert!(fs::symlink_metadata(&taken).unwrap().is_symlink());
        assert!(names(&folder.path().join("tmp")).is_empty());
    }

    /// A run that is killed before it removes the old file leaves this state.
    #[test]
    fn a_duplicated_message_is_removed_by_the_next_run() {
        let folder = maildir();
        let old = folder.path().join("cur/1.h,S=3:2,S");
        let new = folder.path().join("cur/1.h,S=4:2,S");
        put(&old, b"old");
        put(&new, b"new\n");
        assert_eq!(deliver(&old, b"new\n").unwrap().path, new);
        assert_eq!(names(&folder.path().join("cur")), ["1.h,S=4:2,S"]);
        assert_eq!(fs::read(&new).unwrap(), b"new\n");
    }

    #[test]
    fn a_message_renamed_by_a_reader_is_skipped() {
        let folder = maildir();
        let old = folder.path().join("new/1.h,S=3");
        let seen = folder.path().join("cur/1.h,S=3:2,S");
        put(&old, b"old");
        let mut new = InPlace::default()
            .begin(&Original::of(&old).unwrap())
            .unwrap();
        new.write(|out| out.write_all(b"new\n")).unwrap();
        fs::rename(&old, &seen).unwrap();
        assert_eq!(
            sentence(new.commit(), folder.path()),
            "DIR/new/1.h,S=3 was not written: no such file"
        );
        assert_eq!(names(&folder.path().join("cur")), ["1.h,S=3:2,S"]);
        assert!(names(&folder.path().join("new")).is_empty());
        assert!(names(&folder.path().join("tmp")).is_empty());
    }

    /// Of two replacements of one message, the first wins, whether or not it changes the name.
    #[test]
    fn a_message_is_replaced_once() {
        for [first, second] in [["new\n", "xyz"], ["xyz", "new\n"]] {
            let folder = maildir();
            let old = folder.path().join("cur/1.h,S=3:2,S");
            put(&old, b"old");
            let original = Original::of(&old).unwrap();
            let new = |bytes: &str| {
                let mut new = InPlace::default().begin(&original).unwrap();
                new.write(|out| out.write_all(bytes.as_bytes())).unwrap();
                new
            };
            let replacements = [new(first), new(second)];
            let [committed, refused] = replacements.map(NewContents::commit);
            assert_eq!(fs::read_to_string(committed.unwrap().path).unwrap(), first);
            assert!(refused.is_err());
            assert_eq!(names(&folder.path().join("cur")).len(), 1);
        }
    }

    #[test]
    fn a_failed_write_leaves_the_old_message() {
        let folder = maildir();
        let old = folder.path().join("cur/1.h,S=3:2,S");
        put(&old, b"old");
        let mut new = InPlace::default()
            .begin(&Original::of(&old).unwrap())
            .unwrap();
        let written = new.write(|out| {
            out.write_all(&[b'n'; 20_000])?;
            Err(ErrorKind::StorageFull.into())
        });
        assert_eq!(
            sentence(written, folder.path()),
            "DIR/cur/1.h,S=3:2,S was not written: no storage space"
        );
        drop(new);
        assert!(names(&folder.path().join("tmp")).is_empty());
        assert_eq!(fs::read(&old).unwrap(), b"old");
    }

    #[test]
    fn unsuitable_files_and_folders_are_refused() {
        let folder = maildir();
        let at = |name: &str| folder.path().join(name);
        put(&at("cur/1"), b"old");
        assert_eq!(
            sentence(replace(&backed_up(), &at("cur/1"), b"new"), folder.path()),
            "DIR/cur/1: in a Maildir a backup would be another message; omit --backup"
        );
        set_mode(&at("cur/1"), 0o400);
        assert_eq!(
            sentence(deliver(&at("cur/1"), b"new"), folder.path()),
            "DIR/cur/1: the file is read-only; make it writable first"
        );
        set_mode(&at("cur/1"), 0o600);
        fs::rename(at("tmp"), at("elsewhere")).unwrap();
        symlink("elsewhere", at("tmp")).unwrap();
        assert_eq!(
            sentence(deliver(&at("cur/1"), b"new"), folder.path()),
            "DIR/tmp: a symbolic link, which is not followed; name elsewhere itself"
        );
        assert_eq!(fs::read(at("cur/1")).unwrap(), b"old");
    }

    /// Mail readers copy messages by hard links.
    #[test]
    fn a_hard_linked_message_is_written_and_its_copy_is_kept() {
        let folder = maildir();
        let old = folder.path().join("cur/1.h,S=3:2,S");
        let copy = folder.path().join("copy");
        put(&old, b"old");
        fs::hard_link(&old, &copy).unwrap();
        deliver(&old, b"new\n").unwrap();
        assert_eq!(fs::read(&copy).unwrap(), b"old");
        assert_eq!(names(&folder.path().join("cur")), ["1.h,S=4:2,S"]);
    }

    /// If one run changes two names of a file, the first change does not count as a change of the second.
    #[test]
    fn a_message_and_its_copy_are_both_written() {
        let folder = maildir();
        let at = |name: &str| folder.path().join(name);
        let old = [
            "cur/1.h,S=3:2,S",
            "cur/2.h,S=3:2,S",
            "cur/3.h:2,S",
            "new/4.h",
        ]
        .map(at);
        put(&old[0], b"old");
        for copy in &old[1..] {
            fs::hard_link(&old[0], copy).unwrap();
        }
        let begin = |path: &PathBuf| {
            let mut new = InPlace::default()
                .begin(&Original::of(path).unwrap())
                .unwrap();
            new.write(|out| out.write_all(b"new\n")).unwrap();
            new
        };
        let all: Vec<_> = old.iter().map(begin).collect();
        for new in all {
            assert_eq!(new.commit().unwrap().lost, []);
        }
        assert_eq!(names(&at("cur")), ["1.h,S=4:2,S", "2.h,S=4:2,S", "3.h:2,S"]);
        assert_eq!(names(&at("new")), ["4.h"]);
        assert_eq!(fs::read(at("cur/3.h:2,S")).unwrap(), b"new\n");
    }
}

/// The command that starts this program again to play a part in `folder`.
fn part(part: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "write::the_part",
        "--exact",
        "--nocapture",
        "--test-threads=1",
    ]);
    command
        .env("BASELINK_PART", part)
        .env("BASELINK_FOLDER", folder);
    command
}

/// True if the part was played to its end. If it cannot be played here, a notice says so.
fn played(mut command: Command) -> bool {
    match command.output() {
        Ok(output) => {
            let text =
                String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            if !text.contains("played to its end") && !text.contains("panicked") {
                eprintln!("notice: this part cannot be played here: {text}");
                return false;
            }
            assert!(output.status.success(), "{text}");
            true
        }
        Err(error) => {
            eprintln!("notice: this part cannot be played here: {error}");
            false
        }
    }
}

/// Not a test: the entry point for programs that tests start.
#[test]
fn the_part() {
    let Some(part) = std::env::var_os("BASELINK_PART") else {
        return;
    };
    let folder = PathBuf::from(std::env::var_os("BASELINK_FOLDER").unwrap());
    match part.to_str().unwrap() {
        "somebody" => in_place::somebody(&folder),
        "mounted-twice" => output_folder::mounted_twice(&folder),
        "umask-000" => output_folder::with_umask(&folder, 0o000),
        "umask-022" => output_folder::with_umask(&folder, 0o022),
        "umask-027" => output_folder::with_umask(&folder, 0o027),
        "umask-077" => output_folder::with_umask(&folder, 0o077),
        "full" => full::with_little_space(&folder),
        "in-place" => kills::in_place(&folder, &InPlace::default()),
        "in-place-with-backup" => kills::in_place(&folder, &backed_up()),
        "results" => kills::output_folder(&folder),
        "maildir" => kills::maildir(&folder),
        part => panic!("{part}"),
    }
    println!("played to its end");
}

/// Write errors of the system.
mod full {
    use super::*;

    /// Writes more than fits, in every way of writing.
    pub(super) fn with_little_space(folder: &Path) {
        let page = folder.join("page.html");
        let message = folder.join("cur/1.h,S=3:2,S");
        let large = vec![b'n'; 4 << 20];
        let refused = |result: Result<()>| {
            let sentence = result.unwrap_err().to_string();
            assert!(sentence.contains(" was not written: "), "{sentence}");
        };
        refused(replace(&InPlace::default(), &page, &large).map(drop));
        refused(replace(&backed_up(), &page, &large).map(drop));
        refused(maildir::deliver(&message, &large).map(drop));
        refused((|| {
            let mut file =
                ResultFolder::new(&folder.join("out"))?.begin(&page, Path::new("a"), None)?;
            file.write(|out| out.write_all(&large))?;
            file.commit().map(drop)
        })());
    }

    fn scene() -> TempDir {
        let folder = maildir::maildir();
        put(&folder.path().join("page.html"), b"old");
        put(&folder.path().join("cur/1.h,S=3:2,S"), b"old");
        folder
    }

    fn check(folder: &Path) {
        assert_eq!(fs::read(folder.join("page.html")).unwrap(), b"old");
        assert_eq!(fs::read(folder.join("cur/1.h,S=3:2,S")).unwrap(), b"old");
        assert_eq!(names(folder), ["cur", "new", "out", "page.html", "tmp"]);
        assert_eq!(names(&folder.join("cur")).len(), 1);
        assert!(names(&folder.join("tmp")).is_empty());
        assert!(names(&folder.join("out")).is_empty());
    }

    #[test]
    fn a_file_size_limit_leaves_files_unchanged() {
        let folder = scene();
        let program = part("full", folder.path());
        let mut shell = Command::new("sh");
        // The limit counts blocks of 512 bytes (POSIX, ulimit) or of 1,024.
        shell.args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\""]);
        shell.arg(program.get_program()).args(program.get_args());
        shell.envs(
            program
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        if played(shell) {
            check(folder.path());
        }
    }

    #[test]
    fn a_full_disk_leaves_files_unchanged() {
        let folder = tempdir().unwrap();
        let program = part("full", folder.path());
        let mut shell = Command::new("unshare");
        let script = "mount -t tmpfs -o size=256k none \"$BASELINK_FOLDER\" && \
             cd \"$BASELINK_FOLDER\" && mkdir cur new tmp && printf old >page.html && \
             printf old >'cur/1.h,S=3:2,S' && \"$0\" \"$@\" || exit 1; \
             test \"$(find . | sort | tr '\\n' ' ')\" = \
                 './ ./cur ./cur/1.h,S=3:2,S ./new ./out ./page.html ./tmp ' || \
             { find .; echo panicked: other files than before; exit 1; }; \
             test \"$(cat page.html cur/*)\" = oldold || { echo panicked: other bytes; exit 1; }";
        shell.args(["-rm", "sh", "-c", &script.replace("'./ ./cur", "'. ./cur")]);
        shell.arg(program.get_program()).args(program.get_args());
        shell.envs(
            program
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        played(shell);
    }
}

/// Children that write until they are killed.
mod kills {
    use super::*;

    const FILES: usize = 12;

    /// Version `version` of file `file`. Every line names both, and the last line shows that the text is complete.
    fn text(file: usize, version: usize) -> Vec<u8> {
        let lines = 200 + 37 * (version % 11) + 1_000 * (file % 3);
        let mut text = format!("{file} {version} {lines}\n")
            .repeat(lines)
            .into_bytes();
        text.extend(b"end\n");
        text
    }

    /// The file and the version of `bytes`, which must be complete.
    fn version_of(bytes: &[u8]) -> (usize, usize) {
        let line = bytes.split(|&byte| byte == b'\n').next().unwrap();
        let numbers: Vec<usize> = String::from_utf8_lossy(line)
            .split(' ')
            .map(|number| {
                number
                    .parse()
                    .unwrap_or_else(|_| panic!("{} bytes", bytes.len()))
            })
            .collect();
        let (file, version) = (numbers[0], numbers[1]);
        assert!(
            bytes == text(file, version),
            "file {file} is not version {version}"
        );
        (file, version)
    }

    fn write_in_pieces(out: &mut dyn Write, text: &[u8]) -> io::Result<()> {
        text.chunks(3_000)
            .try_for_each(|piece| out.write_all(piece))
    }

    /// The progress that a part reports: it has started, and it has written every file once.
    const AT_WORK: &str = "at work";
    const WRITTEN: &str = "all is written";

    fn say(what: &str) {
        println!("{what}");
        io::stdout().flush().unwrap();
    }

    /// Writes the next version of all files.
    pub(super) fn in_place(folder: &Path, settings: &InPlace) {
        say(AT_WORK);
        loop {
            for file in 0..FILES {
                let path = folder.join(format!("{file}.html"));
                let original = Original::of(&path).unwrap();
                let mut bytes = Vec::new();
                original.open().unwrap().read_to_end(&mut bytes).unwrap();
                let (_, version) = version_of(&bytes);
                let mut new = settings.begin(&original).unwrap();
                new.write(|out| write_in_pieces(out, &text(file, version + 1)))
                    .unwrap();
                assert_eq!(new.commit().unwrap().lost, []);
            }
            say(WRITTEN);
        }
    }

    pub(super) fn output_folder(folder: &Path) {
        say(AT_WORK);
        for version in 1.. {
            let results = ResultFolder::new(&folder.join("out")).unwrap();
            for file in 0..FILES {
                let input = folder.join(format!("{file}.html"));
                let relative = format!("{}/{file}.html", version % 50);
                let mut new = results.begin(&input, Path::new(&relative), None).unwrap();
                new.write(|out| write_in_pieces(out, &text(file, version)))
                    .unwrap();
                new.commit().unwrap();
                copied(&results, &input, Path::new(&format!("{relative}.copy"))).unwrap();
            }
            say(WRITTEN);
        }
    }

    pub(super) fn maildir(folder: &Path) {
        say(AT_WORK);
        loop {
            let cur = folder.join("cur");
            // Older versions come first: duplicates that a killed child left are merged.
            let mut messages: Vec<_> = names(&cur)
                .into_iter()
                .map(|name| {
                    (
                        version_of(&fs::read(cur.join(&name)).unwrap()),
                        cur.join(name),
                    )
                })
                .collect();
            messages.sort();
            for ((file, version), path) in &messages {
                let mut new = InPlace::default()
                    .begin(&Original::of(path).unwrap())
                    .unwrap();
                new.write(|out| write_in_pieces(out, &text(*file, version + 1)))
                    .unwrap();
                assert_eq!(new.commit().unwrap().lost, []);
            }
            say(WRITTEN);
        }
    }

    fn number_of_kills() -> usize {
        std::env::var("BASELINK_KILLS").map_or(2, |times| times.parse().unwrap())
    }

    /// Kills children that play `role` at moments that a linear congruential generator chooses, and calls `check`
    /// after each kill. The last child is killed only after it has written all files, however slow the machine is.
    fn kill(role: &str, folder: &Path, mut check: impl FnMut()) {
        let mut moment = 1_u64;
        for remaining in (0..number_of_kills()).rev() {
            let mut command = part(role, folder);
            let mut child: Child = command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            let awaited = if remaining == 0 { WRITTEN } else { AT_WORK };
            let started = lines.any(|line| line.unwrap().contains(awaited));
            // The constants of Knuth's MMIX.
            moment = moment
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            thread::sleep(Duration::from_micros((moment >> 40) % 30_000));
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(
                started && output.status.code().is_none(),
                "it ended by itself: {stderr}"
            );
            check();
        }
    }

    fn scene(folder: &Path) {
        for file in 0..FILES {
            put(&folder.join(format!("{file}.html")), &text(file, 0));
        }
    }

    /// The files of `folder` with their versions, all complete, and the number of temporary files.
    fn whole(folder: &Path) -> (BTreeMap<OsString, (usize, usize)>, usize) {
        let (temporary, files): (Vec<_>, Vec<_>) = names(folder)
            .into_iter()
            .partition(|name| is_temporary(name));
        let files = files.into_iter().map(|name| {
            let version = version_of(&fs::read(folder.join(&name)).unwrap());
            (name, version)
        });
        (files.collect(), temporary.len())
    }

    #[test]
    fn files_in_place_are_old_or_new() {
        old_or_new("in-place");
    }

    fn old_or_new(role: &str) {
        let folder = tempdir().unwrap();
        scene(folder.path());
        let mut last = [0; FILES];
        let mut kills = 0;
        kill(role, folder.path(), || {
            kills += 1;
            let (files, temporary) = whole(folder.path());
            assert_eq!(files.len(), FILES, "none is lost, none is new");
            assert!(temporary <= kills, "a kill leaves at most the file at hand");
            for (file, last) in last.iter_mut().enumerate() {
                let (which, version) = files[OsStr::new(&format!("{file}.html"))];
                assert!(which == file && version >= *last, "what is new stays new");
                *last = version;
            }
        });
        let written: usize = last.iter().sum();
        println!("{kills} kills, {written} files written");
        assert!(written > 0);
    }

    #[test]
    fn backups_are_the_first_original_or_do_not_exist_yet() {
        let folder = tempdir().unwrap();
        scene(folder.path());
        kill("in-place-with-backup", folder.path(), || {
            let (files, _) = whole(folder.path());
            for file in 0..FILES {
                let (_, version) = files[OsStr::new(&format!("{file}.html"))];
                let backup = files.get(OsStr::new(&format!("{file}.html.orig")));
                assert!(backup == Some(&(file, 0)) || (backup.is_none() && version == 0));
            }
        });
    }

    #[test]
    fn copied_files_are_old_or_new_or_do_not_exist_yet() {
        let folder = tempdir().unwrap();
        scene(folder.path());
        let out = folder.path().join("out");
        let mut seen = 0;
        kill("results", folder.path(), || {
            assert_eq!(
                whole_files(folder.path()),
                FILES,
                "what is read is never written"
            );
            fs::create_dir_all(&out).unwrap();
            for below in names(&out) {
                for (name, (file, version)) in whole(&out.join(&below)).0 {
                    let name = name.to_str().unwrap().to_owned();
                    let copied = name.ends_with(".copy");
                    assert!(name.starts_with(&format!("{file}.html")));
                    assert!(if copied {
                        version == 0
                    } else {
                        below.to_str().unwrap() == (version % 50).to_string()
                    });
                    seen += 1;
                }
            }
        });
        assert!(seen > 0);
    }

    fn whole_files(folder: &Path) -> usize {
        (0..FILES)
            .filter(|file| {
                let bytes = fs::read(folder.join(format!("{file}.html"))).unwrap();
                version_of(&bytes) == (*file, 0)
            })
            .count()
    }

    #[test]
    fn messages_are_old_or_new_or_both() {
        old_or_new_or_both("maildir");
    }

    /// The name of a message. Some names contain no sizes and do not change.
    fn message_name(file: usize, bytes: &[u8]) -> String {
        let lines = bytes.iter().filter(|&&byte| byte == b'\n').count();
        let sizes = match file % 4 {
            0 => String::new(),
            1 => format!(",S={}", bytes.len()),
            _ => format!(",S={},W={}", bytes.len(), bytes.len() + lines),
        };
        format!("{file}.host{sizes}:2,S")
    }

    fn old_or_new_or_both(role: &str) {
        let folder = super::maildir::maildir();
        let cur = folder.path().join("cur");
        for file in 0..FILES {
            let bytes = text(file, 0);
            put(&cur.join(message_name(file, &bytes)), &bytes);
        }
        let mut last = [0; FILES];
        let mut twice = 0;
        let mut kills = 0;
        kill(role, folder.path(), || {
            kills += 1;
            let mut versions = vec![Vec::new(); FILES];
            for name in names(&cur) {
                let bytes = fs::read(cur.join(&name)).unwrap();
                let (file, version) = version_of(&bytes);
                versions[file].push(version);
                assert_eq!(name, OsString::from(message_name(file, &bytes)));
            }
            for (versions, last) in versions.iter_mut().zip(&mut last) {
                versions.sort_unstable();
                assert!(
                    matches!(versions.len(), 1 | 2),
                    "lost, or more than old and new"
                );
                if let [old, new] = versions[..] {
                    assert_eq!(old + 1, new);
                    twice += 1;
                }
                assert!(versions[0] >= *last, "what is new stays new");
                *last = versions[0];
            }
            let temporary = names(&folder.path().join("tmp")).len();
            assert!(temporary <= kills, "a kill leaves at most the file at hand");
        });
        println!(
            "{kills} kills, {} messages written, {twice} seen twice",
            last.iter().sum::<usize>()
        );
        assert!(last.iter().sum::<usize>() > 0);
    }
}
