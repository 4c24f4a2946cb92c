// Finds the messages of a recipient, or those with a reference. Recipients are sealed; a keyed digest of each is stored beside them.
import { CHANNELS, channelNames } from '../channels/index.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Sql } from '../db/connect.ts'
import { recipientDigests } from '../notifications/notification.ts'
import { type DigestedRecipient, type FoundMessage, toRecipient, withReference } from '../notifications/sql/find.ts'
import { homePlan } from '../recipients/plans.ts'
import { refuse } from '../services/refusals.ts'
import type { Service } from '../services/service.ts'
import { namesOf } from '../templates/sql.ts'

type FindApp = { db: { sql: Sql }; seal: Seal; config: { homeCountry: string } }

export type Searched = Pick<Service, 'id' | 'home_country'>

export type NamedMessage = FoundMessage & { template_name: string }

/** Newest first. A number without a country code is read as each service reads it. */
export async function messagesTo(
  app: FindApp,
  services: readonly Searched[],
  recipient: string,
  most: number,
): Promise<NamedMessage[]> {
  const wanted = services.flatMap(service => digestsIn(app, service, recipient))
  if (wanted.length === 0) throw refuse.notRecipient(recipient)
  return named(app, await toRecipient(app.db.sql, wanted, most))
}

export const messagesReferring = async (app: FindApp, services: readonly Id[], reference: string, most: number) =>
  named(app, await withReference(app.db.sql, services, reference, most))

export function digestsIn({ seal, config }: FindApp, service: Searched, recipient: string): DigestedRecipient[] {
  const plan = homePlan(service.home_country ?? config.homeCountry)
  return channelNames.flatMap(channel => {
    const reading = CHANNELS[channel].recipient.read(recipient, { international: true, plan })
    if (!reading.ok) return []
    return recipientDigests(seal, service.id, channel, reading.key).map(digest => ({
      service_id: service.id,
      channel,
      digest,
    }))
  })
}

async function named({ db }: FindApp, found: readonly FoundMessage[]): Promise<NamedMessage[]> {
  const names = await namesOf(db.sql, found)
  return found.map(one => ({ ...one, template_name: names.get(`${one.template_id}/${one.template_version}`) ?? '' }))
}
