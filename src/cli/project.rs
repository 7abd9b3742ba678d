//! The project's own defaults, `playproof.yaml`, found in the working directory or above it. Flags win over it.
