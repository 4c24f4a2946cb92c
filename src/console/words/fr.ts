// The catalogue: every text of the console in English and in French, a file for each part of the console.
import { common } from './fr/common.ts'
import { send } from './fr/send.ts'
import { sheets } from './fr/sheets.ts'

export const french: Readonly<Record<string, string>> = { ...common, ...send, ...sheets }
