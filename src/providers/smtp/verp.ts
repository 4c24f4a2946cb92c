// A return path for each message (VERP): the address of a bounce alone identifies the message. The signature in it keeps
// others from inventing bounces for ids they know.
import { type Id, readId } from '../../core/id.ts'
import { createSeal } from '../../core/seal.ts'

export type ReturnPaths = {
  of(id: Id): string
  /** The message of a bounce; null when the address is not one of ours. */
  read(address: string): Id | null
}

// bounce+<32 hex>-<16 hex>: 56 characters, within the 64 a local part may have (RFC 5321, 4.5.3.1.1). Hexadecimal in
// small letters survives servers that change the case.
const ADDRESS = /^bounce\+([0-9a-f]{32})-([0-9a-f]{16})@(.+)$/

export function createReturnPaths(domain: string, secrets: readonly string[]): ReturnPaths {
  const seal = createSeal(secrets)
  return {
    of(id) {
      const hex = id.replaceAll('-', '')
      return `bounce+${hex}-${seal.sign('return path', hex).toString('hex')}@${domain}`
    },
    read(address) {
      const [, hex, given, host] = ADDRESS.exec(address.toLowerCase()) ?? []
      if (hex === undefined || given === undefined || host !== domain) return null
      return seal.isSigned('return path', hex, Buffer.from(given, 'hex')) ? readId(hex) : null
    },
  }
}
