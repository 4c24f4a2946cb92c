// What travels with an e-mail: its attachments, fetched when it is its turn, because five hundred waiting messages would not
// fit into memory with all their files.
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import type { Attachment } from '../providers/port.ts'
import { ContentGone, keyBy, nameOf, wholeOf } from './keep.ts'
import { filesOfMessages } from './sql.ts'
import type { FileStore } from './store.ts'

/** Waits until there is room for so many bytes; what it gives is called when they are no longer needed. */
export type Room = (bytes: number) => Promise<() => void>

/** later: the store cannot be asked now. gone: it never will have them again. */
export type Fetched =
  | { kind: 'here'; attachments: Attachment[]; release(): void }
  | { kind: 'later' | 'gone'; detail: string }

export type FetchApp = { sql: Sql; seal: Seal; store: FileStore; room: Room }

export async function fetchAttachments({ sql, seal, store, room }: FetchApp, message: Id): Promise<Fetched> {
  let release = () => {}
  try {
    const files = await filesOfMessages(sql, [message])
    // The status says so already; but nothing unscanned is worth trusting one place with.
    if (files.some(file => file.verdict !== 'clean')) return { kind: 'gone', detail: 'a file was not scanned' }
    const attached = files.filter(file => file.method === 'attach')
    if (attached.length === 0 || attached.some(file => file.emptied))
      return { kind: 'gone', detail: 'a file is not there any more' }
    release = await room(attached.reduce((sum, file) => sum + file.bytes, 0))
    const attachments: Attachment[] = []
    for (const file of attached) {
      const key = keyBy(seal, file.content_key)
      const content = await wholeOf(store, file, key)
      attachments.push({ filename: nameOf(key, file), mediaType: file.media_type, content })
    }
    return { kind: 'here', attachments, release }
  } catch (error) {
    release()
    if (error instanceof ContentGone) return { kind: 'gone', detail: 'a file is not there any more' }
    return { kind: 'later', detail: 'the files cannot be read' } // the store or the database is away
  }
}
