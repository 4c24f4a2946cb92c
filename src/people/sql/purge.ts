// What has ended goes by the hour. It is worth nothing before: reading checks the times.
import type { Timestamp } from '../../core/clock.ts'
import { part, type Sql } from '../../db/connect.ts'
import { type Aged, purgeAged } from '../../db/purge.ts'
import type { Step } from '../../runtime/steps.ts'

const byId = { key: part`id`, match: part`t.id = old.id` }

const AGED = {
  sessions: { ...byId, table: part`sessions`, time: part`created_at` },
  links: { ...byId, table: part`sign_in_links`, time: part`expires_at` },
  invitations: { ...byId, table: part`invitations`, time: part`expires_at` },
  tries: { table: part`sign_in_tries`, time: part`since`, key: part`subject`, match: part`t.subject = old.subject` },
} satisfies Record<string, Aged>

export type PurgedKind = keyof typeof AGED

export const purgeSignIns = (
  sql: Sql,
  kind: PurgedKind,
  before: Timestamp,
  after: Timestamp | null,
  most: number,
): Promise<Step<Timestamp>> => purgeAged(sql, AGED[kind], part`${before}::timestamptz`, after, most)
