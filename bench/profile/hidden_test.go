package profile

// Names that tests outside of the package use.

const DefaultSteps = defaultSteps
