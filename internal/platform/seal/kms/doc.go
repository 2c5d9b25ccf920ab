// Package kms connects to the key management services that may hold the master key. `atrium` passes Connect to package seal, which
// knows none of them: their clients add 32 modules and 6 MB (package seal), and everything else that seals needs no network.
package kms
