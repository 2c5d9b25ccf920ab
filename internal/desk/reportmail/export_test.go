package reportmail

// NextMonday is when reports are mailed next.
var NextMonday = nextMonday
