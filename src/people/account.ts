// A person's own account: name, time zone, look, and the e-mail address, which is changed by a link that is sent to the new one.
import type { PersonActor } from '../audit/actor.ts'
import type { Clock } from '../core/clock.ts'
import type { Id } from '../core/id.ts'
import type { Seal } from '../core/seal.ts'
import type { Database, Sql } from '../db/connect.ts'
import { INSTALLATION, type Mailing, sealedMails, wakeMails } from '../mails/send.ts'
import { queue } from '../mails/sql.ts'
import { emailFrom, nameFrom } from '../services/checks.ts'
import { readdressMember, renameMember } from '../services/sql/members.ts'
import { ADDRESS_LINK_MINUTES, addressIn, addressToken } from './address-link.ts'
import { addressChangedLetter, addressLetter, type Language, languageOf } from './letters.ts'
import { trustedConsole } from './links.ts'
import { actorWhoSignsIn, type Person, type ShownLanguage, type SignedIn, type Theme } from './person.ts'
import { endOtherSessions } from './session.ts'
import {
  type AccountChange,
  noteTimeZone as note,
  changeAccount as write,
  changeAddress as writeAddress,
} from './sql/account.ts'
import { removeLinks } from './sql/links.ts'
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

/** The page of the link, below the address of the console. */
const movePath = (token: string) => `/account/address?move=${token}`

/** Sends a link to the new address, if no one has it. Nothing says whether someone has. `console`: the console's URL. */
export async function askForAddress(
  app: AddressApp,
  { person }: SignedIn,
  {
    address,
    browser,
    console,
    language = 'en',
  }: { address: string; browser: string; console: string; language?: Language },
): Promise<void> {
  const to = emailFrom(address)
  const place = trustedConsole(app.config, console)
  const token = addressToken(app, { person: person.id, browser, from: person.email_address, to })
  const other = await personBy(app.db.sql, to)
  if (other && other.id !== person.id) return
  const mails = sealedMails(app, INSTALLATION, [
    addressLetter(to, language, { link: place + movePath(token), minutes: ADDRESS_LINK_MINUTES }),
  ])
  await queue(app.db.sql, mails)
  wakeMails(app, mails)
}

/** `browser`: the cookie that names it. `language`: of the page. */
type MoveRequest = { token: string; browser: string; language?: Language }

/**
 * Returns false if the link is not valid (any more), or someone has the address. Otherwise all other sessions and open sign-in links
 * end, and the old address gets a mail about it.
 */
export async function changeAddress(app: AddressApp, signedIn: SignedIn, request: MoveRequest): Promise<boolean> {
  const to = addressIn(app, { person: signedIn.person, browser: request.browser }, request.token)
  if (to === null) return false
  const { person } = signedIn
  const { email_address: from } = person
  const actor = actorWhoSignsIn(person)
  const mails = sealedMails(app, INSTALLATION, [
    addressChangedLetter(from, languageOf(person, request.language), { to }),
  ])
  const isChanged = await app.db.transaction(async sql => {
    const changed = await writeAddress(sql, person.id, { from, to }, actor)
    if (changed.length === 0) return false
    await readdressMember(sql, person.id, to)
    await endOtherSessions({ ...app, db: { sql } }, signedIn)
    await removeLinks(sql, person.id)
    await queue(sql, mails)
    return true
  })
  if (isChanged) wakeMails(app, mails)
  return isChanged
}
