// Package period holds the input that statistics over time share: the bounds of the period, and the names of its days and weeks.
// The operations that count requests, deliveries and agents' runs embed Input, and group their rows by Key. The package reads
// no database.
package period
