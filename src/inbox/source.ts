// The source of a captured e-mail. The contents of its attachments come from the file store, which may be slow: they are read in a turn of
// the store and never in one of the database, and a message that waits for the store is not in memory yet.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { keyOf, wholeOf } from '../files/keep.ts'
import type { FileStore } from '../files/store.ts'
import type { Reader, Reads } from '../limits/reads.ts'
import type { Attachment } from '../providers/port.ts'
import { compose, encodedLong, isLong } from '../providers/smtp/compose.ts'
import { wholeText } from '../providers/smtp/content.ts'
import type { Turns } from '../runtime/turns.ts'
import { attachedTo, type WholeCaptured } from './read.ts'

export type SourceApp = {
  sql: Sql
  seal: Seal
  files: { store: FileStore; reading: Turns }
  reads: Pick<Reads, 'visit'>
}

export type Source = { headers: { name: string; value: string }[]; source: string; isWhole: boolean }

/** `source`: the e-mail as the SMTP provider would send it, without a signature. Null: it is not an e-mail, or could not be sent. */
export type WithSource = { message: WholeCaptured; source: Source | null }

/** Called in a turn of the database. The function that it returns is called after that turn. `get` reads the message. */
export async function withSource(
  app: SourceApp,
  reader: Reader,
  id: Id,
  get: () => Promise<WholeCaptured>,
): Promise<() => Promise<WithSource>> {
  const sourced = async (message: WholeCaptured) => ({ message, source: await sourceOf(app, message) })
  if (!hasContents(await attachedTo(app.sql, id))) {
    const message = await get()
    return () => sourced(message)
  }
  return () => app.files.reading.run(reader.owner, async () => sourced(await app.reads.visit(reader, get)))
}

/** Attachments of up to this many bytes are part of the source; of a larger message only their names. */
const MOST_SOURCE_BYTES = 4_000_000

type Contents = readonly { bytes: number; emptied: boolean }[]

const areWhole = (files: Contents) =>
  files.reduce((sum, { bytes }) => sum + bytes, 0) <= MOST_SOURCE_BYTES && !files.some(one => one.emptied)
const hasContents = (files: Contents) => files.length > 0 && areWhole(files)

async function sourceOf(
  { seal, files: { store } }: SourceApp,
  { at, content, attachments: attached }: WholeCaptured,
): Promise<Source | null> {
  if (content.channel !== 'email') return null
  const isWhole = areWhole(attached.map(({ file }) => file))
  const attachments: Attachment[] = []
  for (const { filename, mediaType, file } of attached) {
    const bytes = isWhole ? await wholeOf(store, file, keyOf(seal, file)) : Buffer.from('(left out)')
    attachments.push({ filename, mediaType, content: bytes })
  }
  const email = { ...content.email, attachments }
  const composed = compose(email, Date.parse(at), [], isLong(email) ? await encodedLong(email) : null)
  if ('refused' in composed) return null
  return {
    headers: composed.headers.map(headerOf),
    source: `${composed.headers.join('\r\n')}\r\n\r\n${wholeText(composed.body)}`,
    isWhole,
  }
}

/** Unfolded. */
function headerOf(line: string): { name: string; value: string } {
  const at = line.indexOf(':')
  return {
    name: line.slice(0, at),
    value: line
      .slice(at + 1)
      .replace(/\r\n/g, '')
      .trim(),
  }
}
