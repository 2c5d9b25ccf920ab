package inmail

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What mail programs write around quotations, by languages. A line is compared as a whole, so that a sentence with one of these words
// is no quotation.

// wrote are the verbs of introductions, lower case.
var wrote = []string{
	"wrote", "writes", "schrieb", "hat geschrieben", "a écrit", "escribió", "escribi", "ha scritto", "escreveu", "schreef", "napisał",
	"pisze",
	"skrev", "kirjoitti", "napsal", "пишет", "написал", "пише", "yazdı", "書きました", "のメール", "写道", "寫道", "작성", "ezt írta", "a scris",
	"έγραψε", "كتب", "כתב", "เขียน", "đã viết", "menulis", "je napisao",
}

// maxIntroduction is how long an introduction is at most, in bytes.
const maxIntroduction = 400

func endsIntroduction(s string) bool {
	return (strings.HasSuffix(s, ":") || strings.HasSuffix(s, "：")) && len(s) <= maxIntroduction
}

// introduction reports whether lines introduce a quotation: a verb of it, and a date or an address.
func introduction(lines []line) bool {
	var b strings.Builder
	for _, l := range lines {
		if b.Len()+len(l.text) > maxIntroduction {
			return false
		}
		b.WriteString(l.text + " ")
	}
	s := strings.ToLower(b.String())
	if !strings.ContainsFunc(s, unicode.IsDigit) && !strings.Contains(s, "@") {
		return false
	}
	for _, verb := range wrote {
		if i := strings.Index(s, verb); i >= 0 && opens(s, i) {
			return true
		}
	}
	return false
}

// openers are the words that introductions begin with in languages that put the date first, lower case.
var openers = []string{
	"on ", "am ", "le ", "el ", "il ", "in data ", "em ", "a ", "op ", "w dniu ", "dnia ", "den ", "på ", "dne ", "tarihinde ", "ngày ",
	"pada ", "la ", "în ", "στις ",
	"в ", "mon", "tue", "wed", "thu", "fri", "sat", "sun", "pon", "wt", "śr", "czw", "pt", "sob", "ndz", "ma ", "ti ", "ke ", "to ",
	"pe ", "la ", "su ", "út ", "st ", "čt ",
	"pá ", "so ", "ne ", "po ", "lør", "søn", "tir", "ons", "tor", "fre", "man", "lun", "mar", "mié", "jue", "vie", "sáb", "dom", "gio",
	"ven",
	"пн", "вт", "ср", "чт", "пт", "сб", "вс", "нд",
}

// opens reports whether what stands before the verb is a date, a name with an address or both, as programs write them.
func opens(s string, verb int) bool {
	first, _ := utf8.DecodeRuneInString(s)
	if unicode.IsDigit(first) || first >= 0x2e80 || strings.Contains(s, "@") || unicode.In(first, unicode.Arabic, unicode.Hebrew) {
		return true
	}
	for _, word := range openers {
		if strings.HasPrefix(s, word) && strings.ContainsFunc(s, unicode.IsDigit) {
			return true
		}
	}
	return verb < 60 && strings.Count(s[:verb], " ") <= 4 && strings.ContainsFunc(s[verb:], unicode.IsDigit) // Ada wrote on 2026-11-29:
}

// The words of the header that Outlook and others put above a quotation, lower case.
var (
	fromWords = []string{
		"from", "von", "de", "da", "van", "från", "fra", "od", "lähettäjä", "от", "від", "kimden", "差出人", "发件人", "寄件者", "보낸 사람",
		"feladó", "από", "من", "מאת", "de la", "expéditeur",
	}
	subjectWords = []string{
		"subject", "betreff", "objet", "asunto", "oggetto", "assunto", "onderwerp", "ämne", "emne", "temat", "aihe", "předmět", "тема",
		"konu", "件名", "主题", "主題", "主旨", "제목",
		"tárgy", "θέμα", "الموضوع", "נושא", "subiect",
	}
	forwardWords = []string{
		"forwarded message", "begin forwarded message", "weitergeleitete nachricht", "anfang der weitergeleiteten nachricht",
		"message transféré", "début du message transféré",
		"mensaje reenviado", "inicio del mensaje reenviado", "messaggio inoltrato", "inizio messaggio inoltrato",
		"mensagem encaminhada", "doorgestuurd bericht", "begin doorgestuurd bericht",
		"vidarebefordrat meddelande", "videresendt besked", "videresendt melding", "wiadomość przekazana", "przekazana wiadomość",
		"edelleenlähetetty viesti", "přeposlaná zpráva",
		"пересылаемое сообщение", "переадресоване повідомлення", "iletilen ileti", "転送されたメッセージ", "转发的邮件", "轉寄的郵件", "전달된 메일",
	}
)

// separates reports whether another mail begins at the first of the lines: -----Original Message-----, a line of underscores above a
// header, or the header itself.
func separates(lines []line) bool {
	s := lines[0].text
	if strings.HasPrefix(s, "___") && strings.Trim(s, "_ ") == "" || strings.HasPrefix(s, "---") && strings.Trim(s, "- ") == "" {
		return len(s) >= 3 && header(after(lines))
	}
	if strings.HasPrefix(s, "---") && strings.HasSuffix(s, "---") {
		inner := strings.TrimSpace(strings.Trim(s, "-"))
		return len(inner) > 5 && len(inner) < 60 && !strings.ContainsFunc(inner, unicode.IsDigit) && header(after(lines))
	}
	return header(lines)
}

// after returns the lines from the next one that is not empty.
func after(lines []line) []line {
	for i, l := range lines[1:min(len(lines), 4)] {
		if l.text != "" {
			return lines[1+i:]
		}
	}
	return nil
}

// header reports whether lines begin with the header of a mail: From, and below it Subject.
func header(lines []line) bool {
	if len(lines) == 0 || !named(lines[0].text, fromWords) {
		return false
	}
	for _, l := range lines[1:min(len(lines), 9)] {
		if named(l.text, subjectWords) {
			return true
		}
	}
	return false
}

// named reports whether a line is one of the fields. Some programs write the names bold, as *From:*.
func named(s string, words []string) bool {
	if len(s) > 2000 {
		s = s[:2000]
	}
	name, _, ok := strings.Cut(strings.Replace(strings.TrimLeft(s, "*> "), "：", ":", 1), ":")
	if !ok || len(name) > 40 {
		return false
	}
	name = strings.ToLower(strings.TrimSpace(strings.Trim(name, "* ")))
	for _, word := range words {
		if name == word {
			return true
		}
	}
	return false
}

// passedOn reports whether a line says that another mail is passed on.
func passedOn(lines []line) bool {
	for _, l := range lines {
		if l.cited || len(l.text) > 100 {
			continue
		}
		s := strings.ToLower(strings.Trim(l.text, "-=_* :"))
		for _, word := range forwardWords {
			if s == word {
				return true
			}
		}
	}
	return false
}

// phones are how the line begins that telephones add, lower case.
var phones = []string{
	"sent from my ", "sent from outlook for ", "get outlook for ", "sent from mail for ", "sent from yahoo mail",
	"sent from proton mail", "sent via ",
	"von meinem ", "gesendet von ", "gesendet mit ", "diese nachricht wurde von meinem ", "envoyé de mon ", "envoyé depuis ",
	"enviado desde mi ", "enviado desde ", "enviado do meu ",
	"inviato da ", "verzonden vanaf mijn ", "verstuurd vanaf mijn ", "skickat från min ", "sendt fra min ", "wysłane z ", "lähetetty ",
	"отправлено с ", "iphoneから送信", "从我的", "发自我的", "寄自我的", "나의 iphone에서 보냄",
}

// sentFrom reports whether a line is the one that a telephone or a program adds.
func sentFrom(s string) bool {
	if len(s) > 120 {
		return false
	}
	s = strings.ToLower(s)
	for _, phone := range phones {
		if strings.HasPrefix(s, phone) {
			return true
		}
	}
	return false
}
