//! Completions for shells.

use std::process::Command;

use crate::hardening::commands::listed;
use crate::place::Place;

#[test]
fn every_shell_gets_a_script_that_names_every_command() {
    let place = Place::new();
    let pages = [&["--help"][..], &["help", "more"]];
    let commands: Vec<String> = pages.iter().flat_map(|page| listed(&place.run(page).exits(0).out)).collect();
    assert!(
        commands.iter().any(|name| name == "init") && commands.iter().any(|name| name == "completions"),
        "{commands:?}"
    );
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = place.run(&["completions", shell]).exits(0).out;
        for command in &commands {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    assert!(place.run(&["completions", "tcsh"]).exits(2).err.contains("powershell"));
}

#[test]
fn bash_can_read_its_script_and_complete_with_it() {
    let place = Place::new();
    let script = place.run(&["completions", "bash"]).exits(0).out;
    place.write("completions.bash", &script);
    let bash = |command: &str| Command::new("bash").args(["-c", command]).current_dir(place.path("")).output();
    let Ok(checked) = bash("bash -n completions.bash") else { return };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let complete = "source completions.bash; COMP_WORDS=(playproof rep); COMP_CWORD=1; _playproof playproof rep playproof; \
                    echo \"${COMPREPLY[@]}\"";
    let completed = bash(complete).expect("bash").stdout;
    assert_eq!(String::from_utf8_lossy(&completed).trim(), "replay");
}
