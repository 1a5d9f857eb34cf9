package main

import (
	"regexp"
	"strings"
)

// doc collects Markdown.
type doc struct{ strings.Builder }

// para writes a paragraph, or a heading, and the empty line after it.
func (d *doc) para(text string) {
	d.WriteString(text)
	d.WriteString("\n\n")
}

// table writes a table and the empty line after it; each row has as many cells as the head.
func (d *doc) table(head []string, rows [][]string) {
	d.row(head)
	d.WriteString(strings.Repeat("|---", len(head)) + "|\n")
	for _, cells := range rows {
		d.row(cells)
	}
	d.WriteString("\n")
}

func (d *doc) row(cells []string) {
	d.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// String returns the document, which ends in one newline.
func (d *doc) String() string { return strings.TrimRight(d.Builder.String(), "\n") + "\n" }

// cell makes text fit into a table: one line, and no bar that would end the cell. What Markdown or HTML would read as
// markup is text here.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(oneLine(text))
}

// code marks text as code within a table. Code takes no escapes but that of the bar.
func code(text string) string {
	return "`" + strings.ReplaceAll(oneLine(text), "|", `\|`) + "`"
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// ruleAtEnd finds the rule ID that a message of the gate ends with.
var ruleAtEnd = regexp.MustCompile(`\(rule ([a-z0-9-]+)\)$`)

// ruleOf returns the ID of the rule that a message ends with.
func ruleOf(message string) (id string, found bool) {
	match := ruleAtEnd.FindStringSubmatch(message)
	if match == nil {
		return "", false
	}
	return match[1], true
}

// linkRule makes the rule at the end of a message a link into rules.md.
func linkRule(message string) string {
	return ruleAtEnd.ReplaceAllString(message, "(rule [$1](rules.md#$1))")
}
