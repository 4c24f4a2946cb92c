// Chooses the sender or reply-to address of a message. An id that is not one of the service's own is refused; without an id the
// default is used, or the only one.
import { type Channel, PLAIN } from '../channels/plain.ts'
import { type Id, readId } from '../core/id.ts'
import type { LoadedService, ReplyTo, Sender } from './sql.ts'

export type ChosenOrigin<T> = { ok: true; origin: T | null } | { ok: false }

export const chooseOrigin = (service: LoadedService, channel: Channel, given: string | undefined) =>
  choose<ReplyTo | Sender>(service[PLAIN[channel].origins], given)

function choose<T extends { id: Id; is_default: boolean }>(
  all: readonly T[],
  given: string | undefined,
): ChosenOrigin<T> {
  if (given === undefined)
    return { ok: true, origin: all.find(one => one.is_default) ?? (all.length === 1 ? (all[0] ?? null) : null) }
  const id = readId(given)
  const origin = all.find(one => one.id === id)
  return origin ? { ok: true, origin } : { ok: false }
}

/** The sender shown in responses: the chosen one, the installation's, or the name of the service (contract 22.16). */
export const fromNumber = (service: LoadedService, chosen: Sender | null): string | null =>
  chosen?.sender ?? service.default_sender ?? nameAsSender(service.name)

/** Phones show up to 11 letters, digits and spaces, one of them a letter. */
function nameAsSender(name: string): string | null {
  const short = name.trim().slice(0, 11).trimEnd()
  return /^[A-Za-z0-9 ]+$/.test(short) && /[A-Za-z]/.test(short) ? short : null
}
