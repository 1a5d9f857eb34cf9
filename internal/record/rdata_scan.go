package record

import (
	"strconv"
	"strings"
)

// word is one field of rdata as it was written, escapes included.
type word struct {
	text string
	// quoted is set where the whole word stood in quotes, which are left out of text.
	quoted bool
}

// What makes a text more, or less, than the words of one record.
const (
	flawComment     = "a ; starts a comment in a zone file"
	flawParenthesis = "a parenthesis goes on over lines in a zone file"
	flawQuote       = "a quote opens or closes in the middle of a word"
	flawOpen        = "a quote is not closed"
	flawEscape      = `a backslash is not followed by a character, or by the three digits of a byte from \000 to \255`
)

// scanner splits rdata into words as zone files do (RFC 1035 section 5.1), and refuses what a zone file would read as anything else.
type scanner struct {
	text  string
	at    int
	words []word
	// pairs says that a word may end in a quoted value, as in key="value" (RFC 9460 section 2.1).
	pairs bool
}

// scan returns what is wrong with the text, and "" where it is nothing but words.
func (s *scanner) scan() (flaw string) {
	for flaw == "" {
		for s.at < len(s.text) && s.text[s.at] == ' ' {
			s.at++
		}
		if s.at == len(s.text) {
			return ""
		}
		start := s.at
		if s.text[start] != '"' {
			flaw = s.bare()
			s.words = append(s.words, word{text: s.text[start:s.at]})
			continue
		}
		if flaw = s.quotes(); flaw == "" {
			s.words = append(s.words, word{text: s.text[start+1 : s.at-1], quoted: true})
		}
	}
	return flaw
}

// bare passes a word that does not start with a quote.
func (s *scanner) bare() (flaw string) {
	start := s.at
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ':
			return ""
		case ';':
			return flawComment
		case '(', ')':
			return flawParenthesis
		case '"':
			if s.pairs && s.at > start && s.text[s.at-1] == '=' {
				return s.quotes()
			}
			return flawQuote
		case '\\':
			if !s.escape() {
				return flawEscape
			}
		default:
			s.at++
		}
	}
	return ""
}

// quotes passes a string in quotes, which ends its word.
func (s *scanner) quotes() (flaw string) {
	s.at++
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			s.at++
			if s.at < len(s.text) && s.text[s.at] != ' ' {
				return flawQuote
			}
			return ""
		case '\\':
			if !s.escape() {
				return flawEscape
			}
		default:
			s.at++
		}
	}
	return flawOpen
}

// escape passes a backslash and what it escapes, and says whether it is whole.
func (s *scanner) escape() bool {
	length, _ := unescape(s.text[s.at:])
	s.at += length
	return length > 0
}

// unescape reads the escape that a text starts with: how many bytes of the text it takes, 0 if it is none, and the byte it stands for.
func unescape(text string) (length int, value byte) {
	switch {
	case len(text) < 2:
		return 0, 0
	case !isDigit(text[1]):
		return 2, text[1]
	case len(text) < 4 || !isDigit(text[2]) || !isDigit(text[3]):
		return 0, 0
	}
	number, err := strconv.ParseUint(text[1:4], 10, 8)
	if err != nil {
		return 0, 0
	}
	return 4, byte(number)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// decode returns the bytes that a word stands for. Its escapes are whole, for it has been scanned.
func decode(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var out strings.Builder
	for len(text) > 0 {
		length, value := 1, text[0]
		if value == '\\' {
			if length, value = unescape(text); length == 0 {
				break
			}
		}
		out.WriteByte(value)
		text = text[length:]
	}
	return out.String()
}
