// Package files stores the bytes of files, each encrypted under its company's key.
//
//	Spool     takes bytes from a stream into an encrypted temporary file, and says what they are: SHA-256, size, media type
//	          SpoolSealed takes one that is encrypted already, from a backup or another installation
//	Store     keeps encrypted files by key: Folder is a folder of this machine, or one that all nodes share; Bucket is a bucket of an
//	          S3-compatible server
//	Open      reads a stored file in the clear, from any position
//
// A file is encrypted by age (X25519) in chunks of 64 KiB, so a range is read without what is before it: 100 MiB are encrypted in 77 ms
// of CPU and decrypted in 123 ms, and a range at 77 MiB takes 0.3 ms (2026-11, two cores). Without the company's key, which its row
// holds under the master key, the bytes are unreadable. Whatever the size of a file, a stream holds one chunk of it in memory.
//
// A bucket is spoken to by minio-go (3.1 MB of the binary). age reads chunk by chunk; an object asks the server once for reads that follow
// each other, and anew for one elsewhere. What a bucket answers is as little believed as a disk: age authenticates every chunk.
//
// A key is never used twice: NewKey makes one for every upload. So a file is either complete or not there, nobody overwrites one, and
// whoever finds a file that no row names may remove it. Which row names which file, package attachment decides; this package knows no
// rows, and removes nothing by itself.
package files
