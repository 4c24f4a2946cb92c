// Addresses, numbers and webhooks of a file in the form in which this installation stores them. What is none is left out, with a note that
// says where it was: the value may be personal.
import { Refusal } from '../core/refusal.ts'
import type { PhonePlan } from '../recipients/plans.ts'
import { emailFrom, mailboxOf, phoneFrom, recipientFrom, senderFrom } from '../services/checks.ts'
import { mailboxFrom } from '../services/service.ts'
import { batchFrom, eventTypesFrom, tokenFrom, urlFrom, recipientFrom as withRecipient } from '../webhooks/rules.ts'
import type { WebhookSettings } from '../webhooks/settings.ts'
import { FIELDS, type GivenHook, type GivenService, picked } from './form.ts'
import { refuse } from './refusals.ts'

export function normalised(
  service: GivenService,
  { plan, webhooks }: { plan: PhonePlan; webhooks: WebhookSettings },
  notes: string[],
): GivenService {
  const valid = <T>(read: () => T, otherwise: (why: Refusal) => string): T | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      notes.push(otherwise(error))
      return undefined
    }
  }
  const kept = <T, R>(
    list: readonly T[] | undefined,
    read: (item: T) => R,
    left: (item: T, at: number, why: Refusal) => string,
  ) =>
    list?.flatMap(
      (item, at) =>
        valid(
          () => [read(item)],
          why => left(item, at + 1, why),
        ) ?? [],
    )

  const mailbox = service.mailbox
  return {
    ...picked<GivenService>(FIELDS.service, service),
    ...(mailbox !== undefined && {
      mailbox:
        valid(
          () => mailboxOf(mailbox),
          () => `"${mailbox}" is no mailbox here: e-mails come from ${mailboxFrom(mailbox)}@ the sending domain.`,
        ) ?? mailboxFrom(mailbox),
    }),
    ...lists({
      team: once(
        kept(
          service.team,
          member => ({
            ...member,
            email_address: emailFrom(member.email_address),
            ...(member.phone_number && {
              phone_number:
                valid(
                  () => phoneFrom(member.phone_number ?? '', plan),
                  () => 'The phone number of a team member is no number that can be sent to. The member has none here.',
                ) ?? null,
            }),
          }),
          (_member, at) => `Member ${at} of the team has an address that is not valid, and was left out.`,
        ),
        member => member.email_address.toLowerCase(),
      ),
      reply_to_addresses: oneDefault(
        kept(
          service.reply_to_addresses,
          address => ({ ...address, email_address: emailFrom(address.email_address) }),
          ({ id }) => `The reply-to address ${id} is not valid, and was left out.`,
        ),
        ({ id }) => notes.push(`The reply-to address ${id} is a second default one: it is not the default here.`),
      ),
      text_senders: oneDefault(
        kept(
          service.text_senders,
          sender => ({ ...sender, sender: senderFrom(sender.sender, plan) }),
          ({ id }) => `The text sender ${id} is neither a number nor up to 11 letters and digits, and was left out.`,
        ),
        ({ id }) => notes.push(`The text sender ${id} is a second default one: it is not the default here.`),
      ),
      safelist: once(
        kept(
          service.safelist,
          entry => ({ ...entry, recipient: recipientFrom(entry.recipient, plan) }),
          (_entry, at) => `Entry ${at} of the safelist is neither an address nor a number, and was left out.`,
        ),
        entry => entry.recipient.toLowerCase(),
      ),
      folders: service.folders,
      templates: service.templates,
      keys: service.keys,
      webhooks: kept(
        service.webhooks,
        webhook => hookFrom(webhook, webhooks),
        ({ id, url }, _at, why) => `The webhook ${id} to ${hostOf(url)} was not taken over: ${why.message}`,
      ),
    }),
  }
}

/** By the rules for an endpoint that is created. Without a secret it cannot be used (import.ts). */
function hookFrom(webhook: GivenHook, settings: WebhookSettings): GivenHook {
  const { format = 'standard', secret, types, include_recipient, batch } = webhook
  if (secret && format === 'callback') tokenFrom(format, secret)
  if (secret && format === 'standard' && !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) throw refuse.notASecret()
  return {
    ...webhook,
    url: urlFrom(settings, webhook.url),
    ...(types !== undefined && { types: eventTypesFrom(format, types) }),
    ...(include_recipient !== undefined && { include_recipient: withRecipient(format, include_recipient) }),
    ...(batch !== undefined && { batch: batchFrom(format, batch) }),
  }
}

/** The rest of an address may be secret. */
export const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : 'an address that is not valid')

/** Without the lists that are not given. */
const lists = <T extends object>(given: T) =>
  Object.fromEntries(Object.entries(given).filter(([, list]) => list !== undefined)) as Partial<T>

function once<T>(list: readonly T[] | undefined, keyOf: (item: T) => string): T[] | undefined {
  return list && [...new Map(list.toReversed().map(item => [keyOf(item), item])).values()].toReversed()
}

function oneDefault<T extends { is_default?: boolean; archived?: boolean }>(
  list: readonly T[] | undefined,
  note: (item: T) => void,
): T[] | undefined {
  const first = list?.find(({ is_default, archived }) => is_default && !archived)
  return list?.map(item => {
    if (!item.is_default || item.archived || item === first) return item
    note(item)
    return { ...item, is_default: false }
  })
}
