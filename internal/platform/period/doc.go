// Package period holds the input that statistics over time share: the bounds of the period, and its days, weeks and months.
// The operations that count requests, deliveries and agents' runs embed Input. They group their rows by Key, or, in a time zone, by
// Steps. The package reads no database.
package period
