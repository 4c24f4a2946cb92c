// The log line of a refusal: the sentence from our tables, with `<parts>` instead of the caller's values. The response itself
// quotes recipients, names and values; the log must not (S-30). A text that matches no row is not logged.
import { sentences as audit } from './audit/refusals.ts'
import { sentences as bulk } from './bulk/refusals.ts'
import { bulkBody } from './bulk/schemas.ts'
import type { Sentences } from './core/refusal.ts'
import { sentences as feed } from './feed/refusals.ts'
import { eventsQuery } from './feed/schemas.ts'
import { sentences as files } from './files/refusals.ts'
import { sentences as http } from './http/refusals.ts'
import { sentences as fields } from './http/validation.ts'
import { sentences as inbox } from './inbox/refusals.ts'
import { inboxQuery } from './inbox/schemas.ts'
import { sentences as keys } from './keys/refusals.ts'
import { sentences as limits } from './limits/refusals.ts'
import { sentences as notifications } from './notifications/refusals.ts'
import { FAR, FORMAT, PAST } from './notifications/schedule.ts'
import { emailBody, listQuery, smsBody } from './notifications/schemas.ts'
import { sentences as replays } from './replays/refusals.ts'
import { requestsQuery } from './requests/schemas.ts'
import { sentences as templates } from './templates/refusals.ts'
import { createBody, previewBody, updateBody } from './templates/schemas.ts'
import { sentences as webhooks } from './webhooks/refusals.ts'
import * as webhookShapes from './webhooks/schemas.ts'

const tables: readonly Sentences[] = [
  audit,
  bulk,
  feed,
  files,
  http,
  inbox,
  keys,
  limits,
  notifications,
  replays,
  templates,
  webhooks,
]

/** Sentences of checks beyond the schema. */
const CHECKS = [
  'email_address Not a valid email address',
  'phone_number Not a valid number',
  'phone_number Not a valid local number',
  'phone_number Not a valid international number',
  'phone_number Not enough digits',
  'phone_number Country code <code> is not supported',
  ...[FORMAT, PAST, FAR].map(problem => `scheduled_for ${problem}`),
  'filename is too short',
  'filename is too long',
  'personalisation <name> is not one of [attach, link]',
  'personalisation <name> items must be strings or numbers',
  'personalisation has too many values',
  'personalisation is nested too deeply',
  'Personalisation variables size of <n> bytes is greater than allowed limit of <n> bytes.',
  'File number exceed allowed limits of 10 with number of <n>.',
  '<name> : Incorrect padding : Error decoding base64 field',
  '<name> : File size for <filename> is <n> and greater than allowed limit of <n>.',
]

/** Field names are ours, so they may be logged. */
const FIELDS = [
  ...new Set(
    [
      ...[emailBody, smsBody, listQuery, bulkBody, createBody, updateBody, previewBody, eventsQuery, inboxQuery],
      ...[emailBody, smsBody, listQuery, bulkBody, createBody, updateBody, previewBody, eventsQuery, requestsQuery],
      ...[webhookShapes.createBody, webhookShapes.changeBody, webhookShapes.rotateBody, webhookShapes.replayBody],
    ].flatMap(({ properties }) => Object.keys(properties)),
  ),
  ...['file', 'filename', 'sending_method', 'id', 'older_than'],
]
const named = (sentence: string) =>
  sentence.startsWith('<field>') ? FIELDS.map(field => sentence.replace('<field>', field)) : [sentence]

type SentenceRow = { sentence: string; pieces: readonly string[] }

const rows: readonly SentenceRow[] = [
  ...tables.flatMap(table => Object.values(table).map(([, text]) => text)),
  ...CHECKS,
  ...fields,
]
  .flatMap(named)
  .map(sentence => ({ sentence, pieces: sentence.split(/<[^>]*>/) }))
  // A caller's value may contain one of our sentences: the end of the text is always ours, so the row with the longest matching
  // end wins.
  .sort((a, b) => (b.pieces.at(-1) ?? '').length - (a.pieces.at(-1) ?? '').length)

const MOST = 5

/** The sentence without the caller's values; null when no row matches. */
export function loggable(messages: readonly string[]): string | null {
  const known = messages.slice(0, MOST).flatMap(message => rows.find(row => fits(message, row))?.sentence ?? [])
  return known.length === 0 ? null : [...new Set(known)].join('; ')
}

/** The fixed parts of the sentence appear in the message in this order. */
function fits(message: string, { pieces }: SentenceRow): boolean {
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) return message === first
  if (!message.startsWith(first) || !message.endsWith(last)) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = message.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= message.length - last.length
}
