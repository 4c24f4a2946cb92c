// Passkeys (WebAuthn level 3): adding one, signing in with one, and what their owner does with them. A passkey is discoverable, so
// nobody types an address to use it. It is the only proof of who it is, so its device must have verified its owner by a PIN, a
// fingerprint or a face, when it is added and whenever it is used. A person without a passkey can always use a link.
import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { PersonActor } from '../audit/actor.ts'
import type { Id } from '../core/id.ts'
import { challengeToken, isSpent, type PasskeyApp, readChallenge, spendChallenge } from './passkey-challenges.ts'
import {
  addPasskey as addRow,
  countUse,
  credentialsOf,
  findCredential,
  listPasskeys as list,
  type Passkey,
  removePasskey as remove,
  renamePasskey as rename,
} from './sql/passkeys.ts'

export type { Passkey } from './sql/passkeys.ts'

/** Where the browser is: passkeys of another site do not fit. `origin` is scheme, host and port. */
export type Site = { browser: string; origin: string }

/** Given to the browser; its answer comes back with the token of the challenge. */
export type Asked = { challenge: string; options: object }
export type Answered = { challenge: string; answer: string }

/** `over`: the challenge was used, is another browser's, or its time has passed. */
export type Refused = { refused: 'over' | 'unknown' | 'wrong' | 'taken' }

export const MOST_PASSKEYS = 20
export const MOST_NAME = 60

// Loaded when it is first used: its parsers of certificates take 40 ms and 10 MB.
const webauthn = () => import('@simplewebauthn/server')

const siteId = (origin: string) => new URL(origin).hostname

/** Browsers make passkeys for host names only, never for IP addresses. */
export const hasPasskeys = (origin: string): boolean => isIP(siteId(origin).replaceAll(/[[\]]/g, '')) === 0

/** For adding one. Authenticators that hold a passkey of this person already are left out by the browser. */
export async function offerPasskey(app: PasskeyApp, actor: PersonActor, site: Site): Promise<Asked> {
  const { generateRegistrationOptions } = await webauthn()
  const known = await credentialsOf(app.db.sql, actor.id)
  const options = await generateRegistrationOptions({
    rpName: 'Herald',
    rpID: siteId(site.origin),
    userID: bytesOf(actor.id),
    userName: actor.email_address,
    userDisplayName: actor.name,
    attestationType: 'none',
    excludeCredentials: known.map(described),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    timeout: TIMEOUT_MS,
  })
  const asker = { browser: site.browser, person: actor.id }
  return { challenge: challengeToken(app, 'passkey registration', asker, options.challenge), options }
}

export async function addPasskey(
  app: PasskeyApp,
  actor: PersonActor,
  site: Site,
  { challenge, answer, name }: Answered & { name: string },
): Promise<Passkey | Refused> {
  const asker = { browser: site.browser, person: actor.id }
  const asked = readChallenge(app, 'passkey registration', asker, challenge)
  if (!asked) return { refused: 'over' }
  const response = answerFrom<RegistrationResponseJSON>(answer)
  if (!response) return { refused: 'wrong' }
  const { verifyRegistrationResponse } = await webauthn()
  const verified = await verifyRegistrationResponse({
    response,
    expectedChallenge: asked.challenge,
    expectedOrigin: site.origin,
    expectedRPID: siteId(site.origin),
    requireUserVerification: true,
  }).catch(() => null) // it throws for everything that does not fit
  if (!verified?.verified) return { refused: 'wrong' }
  if (!(await spendChallenge(app, asked.id))) return { refused: 'over' }
  const { credential } = verified.registrationInfo
  const row = {
    id: app.ids.next(),
    person_id: actor.id,
    credential_id: Buffer.from(credential.id, 'base64url'),
    public_key: Buffer.from(credential.publicKey),
    counter: credential.counter,
    transports: transportsFrom(credential.transports),
    name: nameFrom(name),
  }
  const [added] = await addRow(app.db.sql, row, MOST_PASSKEYS, actor)
  return added ?? { refused: 'taken' }
}

/** For signing in, by anybody (`person` null), or for confirming that it is still the same person. */
export async function askForPasskey(app: PasskeyApp, person: Id | null, site: Site): Promise<Asked> {
  const { generateAuthenticationOptions } = await webauthn()
  const known = person === null ? [] : await credentialsOf(app.db.sql, person)
  const options = await generateAuthenticationOptions({
    rpID: siteId(site.origin),
    allowCredentials: known.map(described),
    userVerification: 'required',
    timeout: TIMEOUT_MS,
  })
  const asker = { browser: site.browser, person }
  return { challenge: challengeToken(app, purposeFor(person), asker, options.challenge), options }
}

/** Whose passkey it is. `person`: who confirms; null: somebody signs in. */
export async function usePasskey(
  app: PasskeyApp,
  person: Id | null,
  site: Site,
  { challenge, answer }: Answered,
): Promise<{ person: Id } | Refused> {
  const asked = readChallenge(app, purposeFor(person), { browser: site.browser, person }, challenge)
  if (!asked) return { refused: 'over' }
  const response = answerFrom<AuthenticationResponseJSON>(answer)
  if (!response) return { refused: 'wrong' }
  const credential = await findCredential(app.db.sql, Buffer.from(response.id, 'base64url'))
  if (!credential || (person !== null && credential.person_id !== person)) return { refused: 'unknown' }
  if (!isOwner(response, credential.person_id)) return { refused: 'wrong' }
  const { verifyAuthenticationResponse } = await webauthn()
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: asked.challenge,
    expectedOrigin: site.origin,
    expectedRPID: siteId(site.origin),
    credential: {
      id: credential.credential_id.toString('base64url'),
      publicKey: new Uint8Array(credential.public_key),
      counter: Number(credential.counter),
      transports: credential.transports,
    },
    requireUserVerification: true,
  }).catch(() => null) // it throws for everything that does not fit, also for a counter that goes back
  // The counter of an answer that is given twice goes back, too.
  if (!verified?.verified) return { refused: (await isSpent(app, asked.id)) ? 'over' : 'wrong' }
  if (!(await spendChallenge(app, asked.id))) return { refused: 'over' }
  const counted = await countUse(app.db.sql, credential.id, verified.authenticationInfo.newCounter)
  return counted.length > 0 ? { person: credential.person_id } : { refused: 'wrong' }
}

export const listPasskeys = (app: Pick<PasskeyApp, 'db'>, person: Id): Promise<Passkey[]> => list(app.db.sql, person)

/** False: they have no passkey with this id. */
export const renamePasskey = async (app: Pick<PasskeyApp, 'db'>, actor: PersonActor, id: Id, name: string) =>
  (await rename(app.db.sql, actor.id, id, nameFrom(name), actor)).length > 0

/** False: they have no passkey with this id. */
export const removePasskey = async (app: Pick<PasskeyApp, 'db'>, actor: PersonActor, id: Id) =>
  (await remove(app.db.sql, actor.id, id, actor)).length > 0

const TIMEOUT_MS = 300_000
const TRANSPORT = /^[a-z-]{1,20}$/

const described = ({ credential_id, transports }: { credential_id: Buffer; transports: string[] }) => ({
  id: credential_id.toString('base64url'),
  transports,
})

const purposeFor = (person: Id | null) => (person === null ? 'passkey sign-in' : 'passkey confirmation')

/** The sixteen bytes of an id: what a passkey knows of its owner. */
const bytesOf = (id: Id) => new Uint8Array(Buffer.from(id.replaceAll('-', ''), 'hex'))

/** Passkeys name their owner; a browser may leave it out when the options name the passkeys. */
const isOwner = ({ response: { userHandle } }: AuthenticationResponseJSON, person: Id): boolean =>
  userHandle === undefined || userHandle === Buffer.from(bytesOf(person)).toString('base64url')

/** The browser's word, which nobody has signed. */
const transportsFrom = (given: unknown): string[] =>
  (Array.isArray(given) ? given : []).filter(one => typeof one === 'string' && TRANSPORT.test(one)).slice(0, 10)

export const nameFrom = (given: string): string =>
  Array.from(given.replaceAll(/[\u0000-\u001f\u007f\s]+/g, ' ').trim())
    .slice(0, MOST_NAME)
    .join('') || 'Passkey'

/** JSON of the browser; the library checks the rest. Null: not the form of an answer. */
function answerFrom<T extends { id: string }>(text: string): T | null {
  if (text.length > 20_000) return null
  try {
    const answer: unknown = JSON.parse(text)
    if (typeof answer !== 'object' || answer === null || !('id' in answer) || !('response' in answer)) return null
    return typeof answer.id === 'string' && typeof answer.response === 'object' && answer.response !== null
      ? (answer as T)
      : null
  } catch {
    return null
  }
}
