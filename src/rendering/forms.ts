// A value as each output of an e-mail shows it, rendered on its own.

import { collapse } from './characters.ts'
import { cleanSubject } from './email.ts'
import type { Kind } from './hazards.ts'
import { decodeReferences, escapeText } from './html.ts'
import { inlineHtml, inlinePreheader, inlineText } from './markdown.ts'
import { typographyOfHtml, typographyOfPhrase, typographyOfText } from './typography.ts'

/** `straight` is for places in the body where quotes stay straight. */
export type Forms = {
  readonly subject: string
  readonly text: string
  readonly title: string
  readonly preheader: string
  readonly body: string
  readonly straight: string
}

/** The forms that some place shows; the others may have any text. */
export type Needs = { readonly inSubject: boolean; readonly inPreheader: boolean; readonly isStraight: boolean }

export function formsOf(value: string, kind: Exclude<Kind, null>, needs: Needs): Forms {
  switch (kind) {
    case 'word':
      return formsOfWord(value)
    case 'phrase':
      return formsOfPhrase(value, needs)
    case 'marked':
      return formsOfMarked(value, needs)
  }
}

function formsOfWord(word: string): Forms {
  const curly = word.includes("'") ? word.replaceAll("'", '’') : word
  return { subject: curly, text: curly, title: curly, preheader: curly, body: curly, straight: word }
}

function formsOfPhrase(phrase: string, { inSubject, inPreheader, isStraight }: Needs): Forms {
  const curly = typographyOfPhrase(phrase, true)
  const escaped = escapeText(curly)
  const body = bodyOf(escaped)
  return {
    subject: inSubject ? cleanSubject(curly) : '',
    text: curly,
    title: inSubject ? cleanSubject(escaped) : '',
    preheader: inPreheader ? collapse(escaped) : '',
    body,
    straight: isStraight ? bodyOf(escapeText(typographyOfPhrase(phrase, false))) : body,
  }
}

function bodyOf(escaped: string): string {
  return escaped.includes('\n') ? escaped.replaceAll('\n', '<br>') : escaped
}

/** In the body no place for marks is inside a link, so the straight form is not shown. A subject has no Markdown. */
function formsOfMarked(value: string, { inSubject, inPreheader }: Needs): Forms {
  const escaped = escapeText(value)
  const curly = inSubject ? typographyOfPhrase(value, true) : ''
  const body = betweenWords(inlineHtml(escaped), typographyOfHtml)
  return {
    subject: cleanSubject(curly),
    text: decodeReferences(betweenWords(inlineText(value), typographyOfText)),
    title: cleanSubject(escapeText(curly)),
    preheader: inPreheader ? collapse(betweenWords(inlinePreheader(escaped), typographyOfHtml)) : '',
    body,
    straight: body,
  }
}

function betweenWords(text: string, typography: (text: string) => string): string {
  return typography(`x ${text} x`).slice(2, -2)
}
