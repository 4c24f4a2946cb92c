// What a check has found, in words for people.
import type { RowProblem } from '../../bulk/report.ts'
import type { Channel } from '../../channels/plain.ts'
import type { Formats } from '../formats.ts'
import { plural, t } from '../words/index.ts'
import { known } from '../words/nouns.tsx'

export type ShownProblem = {
  /** The number that a spreadsheet program shows beside the row. */
  line: number
  /** As written in the file; null: the whole row. */
  column: string | null
  value: string | null
  problem: RowProblem
  isRecipient: boolean
  message: string
}

/** What is wrong, and one line why. */
export function problemWords(problem: ShownProblem, channel: Channel): readonly [what: string, why: string] {
  switch (problem.problem) {
    case 'missing':
      return [t`Missing`, problem.isRecipient ? t`Every row needs a recipient` : t`The template needs it`]
    case 'recipient':
      return channel === 'email'
        ? [t`Not an e-mail address`, whyNoAddress(problem.value ?? '', problem.message)]
        : [t`Not a phone number`, whyNoNumber(problem.message)]
    case 'not-allowed':
      return [t`Not in the team or allowed`, t`The service is in trial mode`]
    case 'too-long':
      return [t`Too long`, t`The text message would have more than 612 characters`]
    case 'too-large':
      return [t`Too long`, t`The message would be too large`]
    case 'reference':
      return [t`Too long`, t`A reference has at most 1,000 characters`]
  }
}

function whyNoAddress(value: string, message: string): string {
  const text = value.trim()
  if (text === '') return t`Every row needs a recipient`
  if (/<[^<>]+@[^<>]+>/.test(text)) return t`Only the address goes here, without a name or angle brackets`
  const [, domain = '', ...more] = text.split('@')
  if (!text.includes('@'))
    return /^[\d\s+().:/-]{6,}$/.test(text) ? t`This looks like a phone number` : t`It has no @ sign`
  if (more.length > 0) return t`Two @ signs`
  if (/\s/.test(text)) return t`It has a space in it`
  if (!domain.includes('.')) return t`The part after @ has no dot`
  // The first line says already that it is no address.
  return message === NO_ADDRESS ? t`It has a character or a form that addresses cannot have` : known(message)
}
const NO_ADDRESS = 'Not a valid email address'

const whyNoNumber = (message: string): string =>
  NO_NUMBER.includes(message) ? t`Write it with its country code, like +44 7911 123456` : known(message)
const NO_NUMBER = ['Not a valid number', 'Not a valid international number']

/** "About 6 minutes to send." Null: not known. */
export function timeWords(seconds: number | null, { number }: Formats): string | null {
  if (seconds === null) return null
  if (seconds < 60) return t`Sending takes less than a minute.`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120)
    return plural(
      minutes,
      t`Sending takes about ${number(minutes)} minute.`,
      t`Sending takes about ${number(minutes)} minutes.`,
    )
  return t`Sending takes about ${number(Math.round(minutes / 60))} hours.`
}
