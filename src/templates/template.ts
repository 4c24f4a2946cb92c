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
