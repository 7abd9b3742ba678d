//! Project files: no command writes, removes or follows anything outside its own project.
