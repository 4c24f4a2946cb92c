// A page of the inbox, or, if there is nothing on it, the message that arrives within some seconds.
import type { Caller } from '../keys/key.ts'
import type { Reads } from '../limits/reads.ts'
import { listCaptured, type ReadApp, scopeOfKey, type WholeCaptured, withDetails } from './read.ts'
import type { Filter } from './sql.ts'
import type { InboxWaits } from './waits.ts'

export type AwaitApp = ReadApp & { reads: Pick<Reads, 'run'>; inboxWaits: InboxWaits }

export type AwaitedPage = { messages: WholeCaptured[]; hasMore: boolean; waitedMs: number }

/** `signal` aborts when the caller has disconnected. `stillMay` throws when the caller may not read any more after a wait. */
export async function awaitCaptured(
  app: AwaitApp,
  { service, key }: Caller,
  filter: Filter,
  { size, waitSeconds }: { size: number; waitSeconds: number },
  { signal, stillMay }: { signal: AbortSignal; stillMay(): Promise<unknown> },
): Promise<AwaitedPage> {
  const scope = scopeOfKey(service.id, key.key_type)
  const look = (isFirst: boolean) =>
    app.reads.run(service.id, isFirst, async () => {
      const { messages, hasMore } = await listCaptured(app, scope, filter, size, service)
      return { messages: await withDetails(app, messages), hasMore }
    })
  const page = await look(true)
  if (page.messages.length > 0 || waitSeconds === 0) return { ...page, waitedMs: 0 }
  const began = performance.now()
  const isFound = await app.inboxWaits.wait({ scope, filter }, waitSeconds * 1000, signal)
  const waitedMs = performance.now() - began
  if (!isFound) return { ...page, waitedMs }
  await stillMay()
  return { ...(await look(false)), waitedMs }
}
