// Rules of a template that need nothing but the template.
import { countTemplate } from '../rendering/sms.ts'
import type { Channel } from '../services/service.ts'
import { refuse } from './refusals.ts'

const NAME_BELOW = 255
const CONTENT_MOST = { email: 50_000, sms: 612 } as const

/** Content first, then name: the order in which the interface reports them. */
export function checkLengths(type: Channel, { name, content }: { name: string; content: string }): void {
  const most = CONTENT_MOST[type]
  const length = type === 'sms' ? countTemplate(content).units : lengthOf(content)
  if (length > most) throw refuse.contentTooLong(most)
  if (lengthOf(name) >= NAME_BELOW) throw refuse.nameTooLong(NAME_BELOW)
}

// Characters, not UTF-16 units; counting them one by one is only needed when there may be a difference.
const lengthOf = (text: string) => (/[\ud800-\udbff]/.test(text) ? [...text].length : text.length)
