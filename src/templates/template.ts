// Pure rules of templates.
import { CHANNELS, type Channel } from '../channels/index.ts'
import { codePoints } from '../rendering/characters.ts'
import { refuse } from './refusals.ts'

const NAME_BELOW = 255
/** In characters. */
export const LONGEST_SUBJECT = 2000

/** Checks the content first, then the name: the interface reports them in this order. */
export function checkLengths(type: Channel, { name, content }: { name: string; content: string }): void {
  const { longest, lengthOf } = CHANNELS[type].template
  if (lengthOf(content) > longest) throw refuse.contentTooLong(longest)
  if (codePoints(name) >= NAME_BELOW) throw refuse.nameTooLong(NAME_BELOW)
}

/** A version that does not come through the interface, whose schema checks the subject. */
export function checkVersion(
  type: Channel,
  version: { name: string; content: string; subject?: string | null | undefined },
): void {
  checkLengths(type, version)
  const subject = version.subject ?? null
  if (subject === null && CHANNELS[type].template.hasSubject) throw refuse.subjectMissing()
  if (subject !== null && codePoints(subject) > LONGEST_SUBJECT) throw refuse.subjectTooLong(LONGEST_SUBJECT)
}
