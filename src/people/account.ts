// A person's own account: name, time zone, look, and the e-mail address, which is changed by a link that is sent to the new one.
import type { PersonActor } from '../audit/actor.ts'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Sql } from '../db/connect.ts'
import { INSTALLATION, type Mailing, sealedMails, wakeMails } from '../mails/send.ts'
import { queue } from '../mails/sql.ts'
import { readEmail } from '../recipients/email.ts'
import { emailFrom, nameFrom } from '../services/checks.ts'
import { readdressMember, renameMember } from '../services/sql/members.ts'
import { addressLetter, type Language } from './letters.ts'
import { trustedConsole } from './links.ts'
import type { Person, ShownLanguage, Theme } from './person.ts'
import {
  type AccountChange,
  noteTimeZone as note,
  changeAccount as write,
  changeAddress as writeAddress,
} from './sql/account.ts'
import { personBy } from './sql/people.ts'

type App = { db: Database }

export const THEMES = ['auto', 'light', 'dark'] as const satisfies readonly Theme[]
export const SHOWN_LANGUAGES = ['auto', 'en', 'fr'] as const satisfies readonly ShownLanguage[]

/** Throws a refusal for a name that cannot be one. */
export async function changeAccount(app: App, actor: PersonActor, change: AccountChange): Promise<void> {
  const { name } = change
  const checked = name === undefined ? change : { ...change, name: nameFrom(name) }
  await app.db.transaction(async sql => {
    await write(sql, actor.id, checked, actor)
    if (checked.name !== undefined) await renameMember(sql, actor.id, checked.name)
  })
}

/** Zones of the IANA database, as this runtime knows them. */
export const timeZones = (): readonly string[] => ['UTC', ...Intl.supportedValuesOf('timeZone')]

export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{1,60}$/.test(text)) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }) !== null
  } catch {
    return false // it throws for a zone that it does not know
  }
}

/** What the browser says, until the person chooses. */
export async function noteTimeZone(app: { db: { sql: Sql } }, person: Person, zone: string | null): Promise<void> {
  if (zone !== null && person.time_zone === null && isTimeZone(zone)) await note(app.db.sql, person.id, zone)
}

type AddressApp = App &
  Partial<Mailing> & {
    clock: Clock
    seal: Seal
    ids: { next(): Id }
    config: { baseUrl: string | null }
  }

const MINUTES = 60

/** What a link to change an address is made of. It is good for as long as the person still has the address `from`. */
type Move = { person: Id; from: string; to: string; until: number }

/** The page of the link, below the address of the console. */
const movePath = (token: string) => `/account/address?move=${token}`

/**
 * Sends a link to the new address, if nobody has it. Nothing says whether somebody has. `console`: the address of the console.
 */
export async function askForAddress(
  app: AddressApp,
  actor: PersonActor,
  { address, console, language = 'en' }: { address: string; console: string; language?: Language },
): Promise<void> {
  const to = emailFrom(address)
  const place = trustedConsole(app.config, console)
  const until = app.clock.now() + MINUTES * 60_000
  const move: Move = { person: actor.id, from: actor.email_address, to, until }
  const token = app.seal.seal(JSON.stringify(move)).toString('base64url')
  const other = await personBy(app.db.sql, to)
  if (other && other.id !== actor.id) return
  const mails = sealedMails(app, INSTALLATION, [
    addressLetter(to, language, { link: place + movePath(token), minutes: MINUTES }),
  ])
  await queue(app.db.sql, mails)
  wakeMails(app, mails)
}

/** The new address; null: the link is not this person's, is over, or was used. */
export function readAddressLink(
  app: Pick<AddressApp, 'seal' | 'clock'>,
  actor: PersonActor,
  token: string,
): string | null {
  const move = moveFrom(app.seal, token)
  const isValid = move?.person === actor.id && move.from === actor.email_address && move.until > app.clock.now()
  return isValid && readEmail(move.to).ok ? move.to : null
}

/** False: the link is worth nothing (any more), or somebody has the address. */
export async function changeAddress(app: AddressApp, actor: PersonActor, token: string): Promise<boolean> {
  const to = readAddressLink(app, actor, token)
  if (to === null) return false
  return app.db.transaction(async sql => {
    const changed = await writeAddress(sql, actor.id, { from: actor.email_address, to }, actor)
    if (changed.length > 0) await readdressMember(sql, actor.id, to)
    return changed.length > 0
  })
}

function moveFrom(seal: Seal, token: string): Move | null {
  if (!/^[A-Za-z0-9_-]{40,4000}$/.test(token)) return null
  try {
    const move: unknown = JSON.parse(seal.open(Buffer.from(token, 'base64url')).toString('utf8'))
    return typeof move === 'object' && move !== null && 'person' in move && 'until' in move ? (move as Move) : null
  } catch {
    return null // not sealed by this installation
  }
}
