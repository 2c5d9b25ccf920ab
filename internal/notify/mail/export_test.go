package mail

// PerMinute is a company's share of a minute.
const PerMinute = perMinute
