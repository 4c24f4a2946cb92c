// The words of the console in the language of the person. English stands in the pages; the catalogue (fr.ts) has every English
// text beside the French one, and test/console/words.test.ts fails when one is missing. The language is that of the request
// in progress, so pages and components need not pass it on.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { ComponentChildren } from 'preact'
import { french } from './fr.ts'

export const LANGUAGES = ['en', 'fr'] as const
export type Language = (typeof LANGUAGES)[number]

const current = new AsyncLocalStorage<Language>()

export const inLanguage = <T>(language: Language, work: () => T): T => current.run(language, work)
export const language = (): Language => current.getStore() ?? 'en'

/** Null: we do not have it. */
export const readLanguage = (text: string | null | undefined): Language | null =>
  LANGUAGES.find(one => one === text) ?? null

/** Of the header Accept-Language: the first that we have, else English. */
export function acceptedLanguage(header: string | undefined): Language {
  const wanted = (header ?? '')
    .split(',')
    .map(entry => {
      const [name = '', ...options] = entry.trim().toLowerCase().split(';')
      const weight = options.map(option => /^\s*q=([\d.]+)/.exec(option)?.[1]).find(Boolean)
      return { name: name.split('-', 1)[0], weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
  return wanted.map(({ name }) => LANGUAGES.find(one => one === name)).find(Boolean) ?? 'en'
}

/** The key of the catalogue: values are {1}, {2}, … */
const keyOf = (texts: readonly string[]) =>
  texts.reduce((key, text, at) => (at === 0 ? text : `${key}{${at}}${text}`), '')

const translated = (key: string): string => (language() === 'fr' ? (french[key] ?? key) : key)

const VALUE = /\{(\d+)\}/

/** t`Sent to ${name}` as a string, also for attributes and titles. */
export function t(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  if (values.length === 0) return translated(texts[0] ?? '')
  return withValues(translated(keyOf(texts)), values)
}

const withValues = (text: string, values: readonly (string | number)[]) =>
  text.replace(/\{(\d+)\}/g, (_all, at: string) => String(values[Number(at) - 1]))

/** rich`Sent to ${<bdi>{name}</bdi>}`: a text with elements in it. */
export function rich(texts: TemplateStringsArray, ...values: readonly ComponentChildren[]): ComponentChildren {
  return translated(keyOf(texts))
    .split(VALUE)
    .map((piece, at) => (at % 2 === 0 ? piece : values[Number(piece) - 1]))
}

/** One of two texts, by the number: plural(n, t`${n} message`, t`${n} messages`). French has the first also for 0. */
export const plural = <T>(count: number, one: T, other: T): T =>
  count === 1 || (count === 0 && language() === 'fr') ? one : other

declare const marked: unique symbol
/** A text of a table that is made before any request; `say` translates it when it is shown. */
export type Marked = string & { readonly [marked]: true }
export const mark = (text: string): Marked => text as Marked
/** `values` for {1}, {2}, … */
export const say = (text: Marked, ...values: readonly (string | number)[]): string =>
  values.length === 0 ? translated(text) : withValues(translated(text), values)
