package people

// HandedAtOnce exports handedAtOnce.
const HandedAtOnce = handedAtOnce
