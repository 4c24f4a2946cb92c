// Validation of file objects among the values of an e-mail (contract 2.4).
import type { Values } from '../rendering/placeholders.ts'
import { unmap } from '../runtime/mapped.ts'

const MOST_FILES = 10
export const MOST_BYTES = 6_291_456
export const LINK_DAYS = 7

/** Decoded contents by personalisation key; null: not base64. */
export type Contents = ReadonlyMap<string, Buffer | null>

/** To be called when nothing uses them any more: the memory of large ones goes back to the system. */
export function discard(contents: Contents): void {
  for (const content of contents.values()) if (content) unmap(content)
}

export type FileObject = { file: string; filename: string; sending_method: 'attach' | 'link' }

/** Every object among the values of an e-mail is a file. */
export const isFile = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const filesOf = (values: Values): [key: string, file: Record<string, unknown>][] =>
  Object.entries(values).filter((entry): entry is [string, Record<string, unknown>] => isFile(entry[1]))

type Show = (value: unknown) => string

/** First the shape of every file object: wrong types and values before missing keys. */
export function shapeProblems(values: Values, show: Show): string[] {
  return filesOf(values).flatMap(([key, file]) => [
    ...fileProblem(file, show),
    ...methodProblem(show(key), file),
    ...nameProblem(file, show),
    ...['file', 'sending_method', 'filename']
      .filter(name => !Object.hasOwn(file, name))
      .map(name => `${name} is a required property`),
  ])
}

function fileProblem(file: Record<string, unknown>, show: Show): string[] {
  if (!Object.hasOwn(file, 'file') || typeof file.file === 'string') return []
  return [`file ${show(file.file)} is not of type string`]
}

function methodProblem(key: string, file: Record<string, unknown>): string[] {
  if (!Object.hasOwn(file, 'sending_method') || file.sending_method === 'attach' || file.sending_method === 'link')
    return []
  return [`personalisation ${key} is not one of [attach, link]`]
}

function nameProblem(file: Record<string, unknown>, show: Show): string[] {
  if (!Object.hasOwn(file, 'filename')) return []
  const { filename } = file
  if (typeof filename !== 'string') return [`filename ${show(filename)} is not of type string`]
  const length = [...filename].length
  if (length < 3) return ['filename is too short']
  return length >= 250 ? ['filename is too long'] : []
}

/** Then the number of files and the content of each. */
export function contentProblems(values: Values, contents: Contents, show: Show): string[] {
  const files = filesOf(values)
  const many =
    files.length > MOST_FILES ? [`File number exceed allowed limits of 10 with number of ${files.length}.`] : []
  return [
    ...many,
    ...files.flatMap(([key, file]) => contentProblem(show(key), file as FileObject, contents.get(key) ?? null)),
  ]
}

function contentProblem(key: string, { filename }: FileObject, content: Buffer | null): string[] {
  if (content === null) return [`${key} : Incorrect padding : Error decoding base64 field`]
  if (content.length <= MOST_BYTES) return []
  return [`${key} : File size for ${filename} is ${content.length} and greater than allowed limit of ${MOST_BYTES}.`]
}

/** Every sentence of this file, for docs/errors.md. */
export const sentences = [
  'file <value> is not of type string',
  'personalisation <name> is not one of [attach, link]',
  'filename <value> is not of type string',
  'filename is too short',
  'filename is too long',
  'File number exceed allowed limits of 10 with number of <n>.',
  '<name> : Incorrect padding : Error decoding base64 field',
  '<name> : File size for <filename> is <n> and greater than allowed limit of 6291456.',
] as const
