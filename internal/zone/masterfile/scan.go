package masterfile

import (
	"fmt"
	"strings"
)

// maxStatement is how long one record or directive is at most, in bytes: far more than any rdata takes.
const maxStatement = 512 << 10

// statement is one record or directive of a master file, without comments and parentheses.
type statement struct {
	// line is where it starts, counted from 1.
	line int
	// blank says that it starts with a space: a record of the same owner as the last one.
	blank bool
	// tokens are its parts as they were written, with their quotes and escapes.
	tokens []string
}

// scanner divides a master file into statements (RFC 1035 section 5.1).
type scanner struct {
	text string
	at   int
	line int

	current statement
	// start of the token that is being read; -1 between tokens.
	start int
	// parens are open, the first of them in parenLine.
	parens, parenLine int
}

func newScanner(text string) *scanner { return &scanner{text: text, line: 1} }

// syntaxError ends the reading of a file: what follows cannot be told apart.
type syntaxError struct {
	line   int
	detail string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.detail) }

func failAt(line int, format string, args ...any) error {
	return &syntaxError{line, fmt.Sprintf(format, args...)}
}

// next returns the next statement that has tokens; ok is false at the end.
func (s *scanner) next() (st statement, ok bool, err error) {
	for s.at < len(s.text) {
		begin := s.at
		s.current, s.start, s.parens = statement{line: s.line, blank: isSpace(s.text[s.at])}, -1, 0
		if err := s.statement(begin); err != nil {
			return statement{}, false, err
		}
		if len(s.current.tokens) > 0 {
			return s.current, true, nil
		}
	}
	return statement{}, false, nil
}

// statement reads up to the end of a line that no parenthesis continues.
func (s *scanner) statement(begin int) error {
	for s.at < len(s.text) {
		if s.at-begin > maxStatement {
			return failAt(s.current.line, "this is longer than any record: at most %d bytes are read as one", maxStatement)
		}
		if done, err := s.step(); done || err != nil {
			return err
		}
	}
	s.endToken()
	if s.parens > 0 {
		return failAt(s.parenLine, "this parenthesis is not closed")
	}
	return nil
}

// step reads one character, or what belongs to it. done says that the statement is at its end.
func (s *scanner) step() (done bool, err error) {
	switch c := s.text[s.at]; c {
	case '\n':
		s.endToken()
		s.at++
		s.line++
		return s.parens == 0, nil
	case ' ', '\t':
		s.endToken()
		s.at++
	case '\r':
		s.endToken()
		if s.at++; s.at < len(s.text) && s.text[s.at] != '\n' {
			return false, failAt(s.line, "there is a carriage return inside the line")
		}
	case ';':
		s.endToken()
		s.comment()
	case '(', ')':
		s.endToken()
		s.at++
		return false, s.paren(c)
	case '"':
		s.startToken()
		return false, s.quoted()
	case '\\':
		s.startToken()
		return false, s.escaped()
	default:
		s.startToken()
		return false, s.character(c)
	}
	return false, nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func (s *scanner) startToken() {
	if s.start < 0 {
		s.start = s.at
	}
}

func (s *scanner) endToken() {
	if s.start >= 0 {
		if len(s.current.tokens) == 0 {
			s.current.line = s.line
		}
		s.current.tokens = append(s.current.tokens, s.text[s.start:s.at])
		s.start = -1
	}
}

// comment passes over the rest of the line.
func (s *scanner) comment() {
	if length := strings.IndexByte(s.text[s.at:], '\n'); length >= 0 {
		s.at += length
		return
	}
	s.at = len(s.text)
}

func (s *scanner) paren(c byte) error {
	if c == '(' {
		if s.parens == 0 {
			s.parenLine = s.line
		}
		s.parens++
		return nil
	}
	if s.parens == 0 {
		return failAt(s.line, "this closing parenthesis was not opened")
	}
	s.parens--
	return nil
}

// quoted reads up to the closing quote.
func (s *scanner) quoted() error {
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case '"':
			s.at++
			return nil
		case '\\':
			if s.at++; s.at < len(s.text) && isControl(s.text[s.at]) {
				return failAt(s.line, "a backslash stands before a control character; write it as three digits, as in \\010")
			}
		default:
			if isControl(c) {
				return failAt(s.line, "a text in quotes holds a control character or goes on in the next line; write it as three digits, as in \\010")
			}
		}
	}
	return failAt(s.line, "a quote has no other half")
}

// escaped reads a backslash and what it escapes. The digits of a number are characters as any other.
func (s *scanner) escaped() error {
	s.at++
	if s.at == len(s.text) || isControl(s.text[s.at]) {
		return failAt(s.line, "a backslash stands before the end of the line or a control character")
	}
	s.at++
	return nil
}

func (s *scanner) character(c byte) error {
	if isControl(c) {
		return failAt(s.line, "there is the control character %#02x; write it as three digits, as in \\010", c)
	}
	s.at++
	return nil
}

func isControl(c byte) bool { return c < ' ' && c != '\t' || c == 0x7f }
