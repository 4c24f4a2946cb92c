// The envelope of a message: whether a server can take it, and its MAIL command (RFC 5321, 3.3).
import type { Extensions } from './extensions.ts'

export type Envelope = { from: string; to: string; utf8: boolean }

/** Why this message cannot be sent to this server, known without asking it; null when it can. */
export function unfit({ from, to, utf8 }: Envelope, size: number, extensions: Extensions): string | null {
  if (BREAKS_A_COMMAND.test(from) || BREAKS_A_COMMAND.test(to)) return 'An address cannot be put into SMTP'
  if (utf8 && !(extensions.utf8 && extensions.eightBitMime))
    return 'The provider cannot send to addresses outside ASCII'
  const { largest } = extensions
  if (largest > 0 && size > largest) return `The message is larger than the ${largest} bytes the provider takes`
  return null
}

/** Control characters would end the command, angle brackets the address. */
const BREAKS_A_COMMAND = /[\x00-\x20\x7f<>]/

export function mailCommand({ from, utf8 }: Envelope, size: number, extensions: Extensions): string {
  let command = `MAIL FROM:<${from}>`
  if (extensions.size) command += ` SIZE=${size}`
  if (utf8) command += ' SMTPUTF8 BODY=8BITMIME'
  // Asks for bounces without the body: its attachments would only make them large (RFC 3461, 4.3).
  if (extensions.deliveryStatus) command += ' RET=HDRS'
  return command
}
