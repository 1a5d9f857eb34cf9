package masterfile

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/namegate/namegate/internal/rules"
)

// generate makes the records of a $GENERATE directive, as BIND does: the range, the owner, TTL and class where given, the type, and the data,
// in quotes where they are more than one token.
func (p *parser) generate(line int, args []string) error {
	if len(args) < 4 {
		return p.stop(line, "write a range, a name, a type and data after $GENERATE")
	}
	from, to, step, err := parseRange(args[0])
	if err != nil {
		return p.stop(line, "$GENERATE %q: %v", rules.Clip(args[0]), err)
	}
	template := strings.Join(unquoteLast(args[1:]), " ")
	before, owner := len(p.problems), p.owner
	defer func() { p.owner = owner }() // what comes after the directive and starts with a space belongs to what was before it
	for n := from; n <= to; n += step {
		if p.generated++; p.generated > MaxGenerated {
			return p.stop(line, "the $GENERATE directives make more records than are read: at most %d together", MaxGenerated)
		}
		text, err := expand(template, n)
		if err != nil {
			return p.stop(line, "$GENERATE: %v", err)
		}
		if p.generatedBytes += len(text); p.generatedBytes > MaxSize {
			return p.stop(line, "the $GENERATE directives make more text than is read: at most %d MiB together", MaxSize>>20)
		}
		if err := p.generatedRecord(line, text); err != nil {
			return err
		}
		if len(p.problems) > before {
			return nil // the others have the same problem
		}
	}
	return nil
}

// unquoteLast takes the quotes off the data where they are one token in quotes, and the backslashes off the quotes within.
func unquoteLast(args []string) []string {
	last := args[len(args)-1]
	if len(args) < 3 || len(last) < 2 || last[0] != '"' || last[len(last)-1] != '"' {
		return args
	}
	var data strings.Builder
	for inner := last[1 : len(last)-1]; inner != ""; {
		length := 1
		switch {
		case inner[0] == '"':
			return args // more than one text
		case inner[0] == '\\' && len(inner) > 1:
			length = 2
		}
		part := inner[:length]
		if part == `\"` {
			part = `"`
		}
		data.WriteString(part)
		inner = inner[length:]
	}
	return append(args[:len(args)-1:len(args)-1], data.String())
}

// generatedRecord reads a text that is one record, and nothing but a record.
func (p *parser) generatedRecord(line int, text string) error {
	s := newScanner(text)
	st, ok, err := s.next()
	if err != nil || !ok {
		return p.stop(line, "$GENERATE makes %q, which is no record", rules.Clip(text))
	}
	if _, more, err := s.next(); more || err != nil {
		return p.stop(line, "$GENERATE makes %q, which is more than a record", rules.Clip(text))
	}
	st.line, st.blank = line, false
	return p.record(st)
}

// parseRange reads from-to or from-to/step.
func parseRange(text string) (from, to, step int64, err error) {
	bounds, stepText, hasStep := strings.Cut(text, "/")
	fromText, toText, hasTo := strings.Cut(bounds, "-")
	step = 1
	var errs [3]error
	from, errs[0] = number(fromText)
	to, errs[1] = number(toText)
	if hasStep {
		step, errs[2] = number(stepText)
	}
	switch {
	case !hasTo || errors.Join(errs[:]...) != nil || to < from || step < 1:
		return 0, 0, 0, errors.New("give a range such as 1-254 or 0-100/10, from numbers up to 2147483647")
	case (to-from)/step >= MaxGenerated:
		return 0, 0, 0, fmt.Errorf("give a range of at most %d numbers", MaxGenerated)
	}
	return from, to, step, nil
}

func number(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int64(n), err
}

// expand puts a number in the place of each $ and ${offset,width,base}. A backslash before a $, or a second one, stands for a $.
func expand(template string, n int64) (string, error) {
	var b strings.Builder
	for at := 0; at < len(template); at++ {
		switch c := template[at]; {
		case c == '\\' && at+1 < len(template):
			if at++; template[at] != '$' {
				b.WriteByte('\\')
			}
			b.WriteByte(template[at])
		case c != '$':
			b.WriteByte(c)
		case strings.HasPrefix(template[at:], "$$"):
			b.WriteByte('$')
			at++
		case strings.HasPrefix(template[at:], "${"):
			length := strings.IndexByte(template[at:], '}')
			if length < 0 {
				return "", errors.New("a ${ has no closing brace")
			}
			text, err := modified(template[at+2:at+length], n)
			if err != nil {
				return "", err
			}
			b.WriteString(text)
			at += length
		default:
			b.WriteString(strconv.FormatInt(n, 10))
		}
	}
	return b.String(), nil
}

// maxWidth of a number, as that of a label.
const maxWidth = 63

// modified prints a number as offset, width and base say.
func modified(modifier string, n int64) (string, error) {
	parts := append(strings.Split(modifier, ","), "", "")[:max(3, strings.Count(modifier, ",")+1)]
	offset, err := strconv.ParseInt(parts[0], 10, 32)
	width, widthErr := uint64(0), error(nil)
	if parts[1] != "" {
		width, widthErr = strconv.ParseUint(parts[1], 10, 8)
	}
	if err != nil || widthErr != nil || width > maxWidth || len(parts) > 3 || strings.HasSuffix(modifier, ",") {
		return "", fmt.Errorf("${%s} is not of the form ${offset,width,base}", rules.Clip(strconv.QuoteToASCII(modifier)))
	}
	base := cmp.Or(parts[2], "d")
	if n+offset < 0 && base != "d" {
		return "", fmt.Errorf("${%s} makes a number below 0, which has no digits in base %q", rules.Clip(strconv.QuoteToASCII(modifier)), rules.Clip(base))
	}
	switch base {
	case "d", "o", "x", "X":
		return fmt.Sprintf("%0*"+base, int(width), n+offset), nil
	case "n", "N":
		return nibbles(n+offset, int(width), base == "N"), nil
	default:
		return "", fmt.Errorf("%q is no base: give d, o, x, X, n or N", rules.Clip(base))
	}
}

// nibbles prints a number as the reverse zones of IPv6 do: its hexadecimal digits from the last to the first, with dots between them, at least
// width characters. So an even width that the digits do not exceed ends in a dot.
func nibbles(n int64, width int, upper bool) string {
	digits := fmt.Sprintf("%0*x", (width+1)/2, n)
	if upper {
		digits = strings.ToUpper(digits)
	}
	out := make([]string, 0, len(digits))
	for at := len(digits) - 1; at >= 0; at-- {
		out = append(out, digits[at:at+1])
	}
	text := strings.Join(out, ".")
	if len(text) < width {
		text += "."
	}
	return text
}
