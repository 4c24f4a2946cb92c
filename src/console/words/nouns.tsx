// Sentences of Herald's interface that pages show. Some have a translation; the others stay English and say so.
import type { ComponentChildren } from 'preact'
import { isKnown, known, language } from './index.ts'

export const fromNoun = (sentence: string): ComponentChildren =>
  language() === 'en' || isKnown(sentence) ? known(sentence) : <span lang="en">{sentence}</span>
