// Pure rules of templates.
import { countTemplate } from '../rendering/sms.ts'
import type { Channel } from '../services/service.ts'
import { refuse } from './refusals.ts'

const NAME_BELOW = 255
const CONTENT_MOST = { email: 50_000, sms: 612 } as const

/** Checks the content first, then the name: the interface reports them in this order. */
export function checkLengths(type: Channel, { name, content }: { name: string; content: string }): void {
  const most = CONTENT_MOST[type]
  const length = type === 'sms' ? countTemplate(content).units : lengthOf(content)
  if (length > most) throw refuse.contentTooLong(most)
  if (lengthOf(name) >= NAME_BELOW) throw refuse.nameTooLong(NAME_BELOW)
}

// Counts code points; without surrogates that is the length of the string.
const lengthOf = (text: string) => (/[\ud800-\udbff]/.test(text) ? [...text].length : text.length)
