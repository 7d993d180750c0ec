package app

// Version is the version of this build. CHANGELOG.md says what it holds.
const Version = "0.1.0"
