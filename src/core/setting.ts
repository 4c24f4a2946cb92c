// A setting is a row of data: the name of its environment variable, how its text is read, its default and one sentence.
// Each row is defined by its owner (providers/smtp/settings.ts, http/settings.ts …); config/ merges them.

export type Problem = { problem: string }

/** Parses the text of a setting. `schema`: the JSON Schema of the same value in the providers file. */
export type Reader<T> = { read(text: string): T | Problem; schema: JsonSchema }
export type JsonSchema = Readonly<Record<string, unknown>>

export type Setting<T> = {
  /** The environment variable. `<name>_FILE` names a file that holds the value. */
  name: string
  reader: Reader<T>
  fallback: T
  /** The default as docs/settings.md shows it. */
  shown: string
  /** Never shown in an error or a log. */
  secret?: true
  /** Contains a secret only sometimes: its value may be written in the providers file. */
  inline?: true
  /** The text of a value, where it is not a text, a number, or a list of them. */
  textOf?(value: T): string
  sentence: string
}

export type Settings = Readonly<Record<string, Setting<unknown>>>
export type ValuesOf<S extends Settings> = { -readonly [K in keyof S]: S[K]['fallback'] }

export const setting = <T>(
  name: string,
  reader: Reader<T>,
  fallback: T,
  sentence: string,
  options: { shown?: string; secret?: true; inline?: true; textOf?(value: T): string } = {},
): Setting<T> => ({
  name,
  reader,
  fallback,
  sentence,
  shown: options.shown ?? String(fallback),
  ...(options.secret && { secret: true }),
  ...(options.inline && { inline: true }),
  ...(options.textOf && { textOf: options.textOf }),
})

export const isProblem = (result: unknown): result is Problem =>
  typeof result === 'object' && result !== null && 'problem' in result
