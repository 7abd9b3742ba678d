//! Recorded calls under a playbook.
