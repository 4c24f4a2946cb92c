// A passkey in software: what a browser and an authenticator answer, with real keys and signatures (WebAuthn level 3, section 6).
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

type Options = { challenge: string; rp?: { id?: string }; rpId?: string }
/** Every part of an answer that a test may falsify. */
type Lies = {
  origin?: string
  siteId?: string
  challenge?: string
  type?: string
  counter?: number
  /** User present 1, user verified 4, backup 8 and 16. */
  flags?: number
  userHandle?: string
  /** More fields of the response, or other ones. */
  response?: object
}

const PRESENT_AND_VERIFIED = 0x05
const WITH_CREDENTIAL = 0x40

/** `counts`: it has a counter that goes up with every use; passkeys that are synchronised have none. */
export function authenticator({ origin, counts = true }: { origin: string; counts?: boolean }) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  let uses = 0

  const clientData = (type: string, options: Options, lies: Lies) =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? options.challenge,
        origin: lies.origin ?? origin,
        crossOrigin: false,
      }),
    )
  const authData = (siteId: string, flags: number, counter: number, rest = Buffer.alloc(0)) => {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(siteId), Buffer.from([flags]), count, rest])
  }
  const answer = (response: object) =>
    JSON.stringify({
      id: id.toString('base64url'),
      rawId: id.toString('base64url'),
      type: 'public-key',
      clientExtensionResults: {},
      response,
    })
  const counted = () => {
    uses += counts ? 1 : 0
    return uses
  }

  return {
    create(given: object, lies: Lies = {}): string {
      const options = given as Options
      const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
      // COSE_Key: kty EC2, alg ES256, crv P-256, x, y.
      const cose = Buffer.concat([
        Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
        Buffer.from(x, 'base64url'),
        Buffer.from([0x22, 0x58, 0x20]),
        Buffer.from(y, 'base64url'),
      ])
      const credential = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose])
      const siteId = lies.siteId ?? options.rp?.id ?? ''
      const flags = (lies.flags ?? PRESENT_AND_VERIFIED) | WITH_CREDENTIAL
      const data = authData(siteId, flags, lies.counter ?? counted(), credential)
      // { fmt: 'none', attStmt: {}, authData }
      const attestation = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.from([0xa0]),
        cborText('authData'),
        Buffer.from([0x58, data.length]),
        data,
      ])
      return answer({
        clientDataJSON: clientData('webauthn.create', options, lies).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
        ...lies.response,
      })
    },
    get(given: object, lies: Lies = {}): string {
      const options = given as Options
      const flags = lies.flags ?? PRESENT_AND_VERIFIED
      const data = authData(lies.siteId ?? options.rpId ?? '', flags, lies.counter ?? counted())
      const client = clientData('webauthn.get', options, lies)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
        ...(lies.userHandle !== undefined && { userHandle: lies.userHandle }),
        ...lies.response,
      })
    },
  }
}

const sha256 = (of: string | Buffer) => createHash('sha256').update(of).digest()
const cborText = (text: string) => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])
