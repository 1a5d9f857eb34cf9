// Package masterfile writes zones as master files (RFC 1035 section 5) and reads them, with the directives that servers know. Nothing that it
// reads opens another file, and nothing that it writes is more than one record a line.
package masterfile
