// The numbering plan in which a service's numbers are read: that of its own home country, or of the installation's.
import type { Id } from '../core/id.ts'
import type { Sql } from '../db/connect.ts'
import { homePlan, type PhonePlan } from '../recipients/plans.ts'
import { homeCountryOf } from './sql.ts'

export type HomeApp = { db: { sql: Sql }; config: { homeCountry: string } }

export const planOf = async ({ db, config }: HomeApp, service: Id): Promise<PhonePlan> =>
  homePlan((await homeCountryOf(db.sql, service)) ?? config.homeCountry)
