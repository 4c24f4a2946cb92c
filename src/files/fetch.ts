// The attachments of an e-mail, fetched when it is sent: the files of a whole batch of 500 messages would not fit into memory.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Attachment } from '../providers/port.ts'
import { mapped, unmap } from '../runtime/mapped.ts'
import { ContentGone, keyOf, nameOf, wholeOf } from './keep.ts'
import { filesOfMessages } from './sql.ts'
import type { FileStore } from './store.ts'

/** Reserves bytes of memory, waiting if necessary; the returned function releases them. */
export type Room = (bytes: number) => Promise<() => void>

/** `later`: the store is not available. `gone`: the store no longer has the files. */
export type Fetched =
  /** `release`: the attachments are empty afterwards. */
  { kind: 'here'; attachments: Attachment[]; release(): void } | { kind: 'later' | 'gone'; detail: string }

export type FetchApp = {
  sql: Sql
  seal: Seal
  store: FileStore
  room: Room
  /** Called with the reason when the files cannot be read now. */
  onUnreadable(error: unknown): void
}

export async function fetchAttachments(
  { sql, seal, store, room, onUnreadable }: FetchApp,
  message: Id,
): Promise<Fetched> {
  const attachments: Attachment[] = []
  let leave = () => {}
  const release = () => {
    for (const { content } of attachments) unmap(content)
    leave()
  }
  try {
    const files = await filesOfMessages(sql, [message])
    // The status of the message implies it already. Checked again so that no single error can send an unscanned file.
    if (files.some(file => file.verdict !== 'clean')) return { kind: 'gone', detail: 'a file was not scanned' }
    const attached = files.filter(file => file.method === 'attach')
    if (attached.length === 0 || attached.some(file => file.emptied))
      return { kind: 'gone', detail: 'a file is not there any more' }
    // Once: it is encoded and sent a piece at a time.
    leave = await room(attached.reduce((sum, file) => sum + file.bytes, 0))
    for (const file of attached) {
      const key = keyOf(seal, file)
      const content = await wholeOf(store, file, key, mapped)
      attachments.push({ filename: nameOf(key, file), mediaType: file.media_type, content })
    }
    return { kind: 'here', attachments, release }
  } catch (error) {
    release()
    if (error instanceof ContentGone) return { kind: 'gone', detail: 'a file is not there any more' }
    onUnreadable(error) // the store or the database is not available, or the store has returned something else
    return { kind: 'later', detail: 'the files cannot be read' }
  }
}
