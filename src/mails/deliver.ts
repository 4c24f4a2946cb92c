// The work of the lane `mails`: hands mails of Herald itself to the e-mail providers, ahead of messages, and deletes them.
import { type Id, microsOf } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { delaySeconds } from '../engine/backoff.ts'
import type { Entry, Work } from '../engine/work.ts'
import { retriesOf } from '../notifications/deliver.ts'
import { cleanRef } from '../providers/clean.ts'
import type { ProviderGroup } from '../providers/failover.ts'
import type { EmailMessage, Outcome } from '../providers/port.ts'
import { emailFrom, KEPT_SECONDS } from './mail.ts'
import { type Ended, load, record } from './sql.ts'

export type MailApp = {
  sql: Sql
  seal: Seal
  clock: { micros(): number }
  ids: { next(): Id }
  groups: { email: ProviderGroup<EmailMessage> }
  sendingDomain: string
  owner: Id
  random(): number
  /** Counts a mail that is given up. */
  onMailLost(): void
  onFault(error: unknown, sentence: string, fields?: Record<string, unknown>): void
}

type Item = { id: Id; sealed: Buffer; waits: number }
type Result = Omit<Ended, 'id' | 'ticket'>

const MAX_DELAY_SECONDS = 3_600
/** How often a mail waits in its slot for a provider that is down, before it is deferred and frees the slot. */
const MAX_WAITS = 3
const GONE: Result = { provider: null, ref: null }

export function deliverMails(app: MailApp): Work<Item, Result> {
  const giveUp = (id: Id, why: string) => {
    app.onMailLost()
    app.onFault(new Error(why), 'a mail of Herald itself was given up', { mail: id })
    return { kind: 'done', result: GONE } as const
  }
  return {
    async load(tickets) {
      const rows = await load(
        app.sql,
        tickets.flatMap(ticket => ticket.subjects),
      )
      return new Map(rows.map(row => [row.id, { ...row, waits: 0 }]))
    },
    async handle(item, ticket, recall) {
      const email = emailFrom(app, item.id, item.sealed)
      const answer = await app.groups.email.send(email, { cost: 1, urgent: true, recall })
      if (answer.kind === 'recalled') return answer
      if (answer.kind === 'wait' && ++item.waits < MAX_WAITS) return { kind: 'wait', until: answer.until }
      const outcome: Outcome = answer.kind === 'wait' ? { kind: 'deferred', detail: answer.detail } : answer.outcome
      switch (outcome.kind) {
        case 'accepted': {
          const reporting = answer.kind === 'answered' && answer.provider.reports ? answer.provider.name : null
          return { kind: 'done', result: { provider: reporting, ref: reporting && (cleanRef(outcome.ref) || item.id) } }
        }
        case 'rejected':
          return giveUp(item.id, 'the provider refuses it')
        case 'deferred': {
          if (app.clock.micros() - microsOf(item.id) > KEPT_SECONDS * 1_000_000)
            return giveUp(item.id, 'its time is over')
          const delay = delaySeconds(ticket.attempts + 1, MAX_DELAY_SECONDS, app.random(), outcome.retryAfterSeconds)
          return { kind: 'again', result: null, delaySeconds: delay }
        }
      }
    },
    setAside: item => giveUp(item.id, 'it failed too often').result,
  }
}

/** Deletes mails that have ended, settles tickets, and inserts tickets for retries. */
export const writeMails =
  (app: Pick<MailApp, 'sql' | 'owner' | 'ids'>) =>
  async (entries: readonly Entry<Result>[]): Promise<void> => {
    const leased = new Map(entries.map(({ ticket }) => [ticket.id, { id: ticket.id, takes: ticket.takes }]))
    const ended = entries.flatMap(({ id, ticket, result }) =>
      id && result ? [{ ...result, id, ticket: ticket.id }] : [],
    )
    const settled = entries.filter(entry => entry.settle).map(entry => entry.ticket.id)
    const again = entries.flatMap(entry => retriesOf(app, entry))
    await record(app.sql, app.owner, [...leased.values()], ended, settled, again)
  }
