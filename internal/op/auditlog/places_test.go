package auditlog

// Exporting and Verifying export the places of the process for exports and verifications.
var Exporting, Verifying = exporting, verifying
