// The short way to an e-mail: everything around the values is rendered in advance, and values are inserted. A value whose Markdown
// could combine with the text around it costs the rendering of its own segment. For values that neither way can show exactly it
// returns null.

import { type Parts, type Slot, shows } from './placeholders.ts'
import { createPrepared, type Fill, type RenderInFull, sizeOf, type Template } from './prepared.ts'
import { createSegments } from './segments.ts'

const mostConditions = 12
const mostPrepared = 64

export function createShortcut(template: Template, render: RenderInFull, hasLiterals = false): Fill {
  const slots = [...template.subject, ...template.content].filter(part => typeof part !== 'string')
  const conditions = [...new Set(slots.filter(slot => slot.text !== null).map(slot => slot.key))]
  const limits = { hasLiterals, left: mostPrepared * sizeOf(template) }
  // One for every combination of conditions, made on first use.
  const known = new Map<string, Fill>()
  const fillFor = (holding: string): Fill => {
    const found = known.get(holding)
    if (found) return found
    if (known.size >= mostPrepared) return () => null
    const holds = new Set(conditions.filter((_, index) => holding[index] === '1'))
    const settled = { subject: settle(template.subject, holds), content: settle(template.content, holds) }
    const whole = createPrepared(settled, render, limits)
    let parts: Fill | undefined
    const fill: Fill = values => {
      const outputs = whole(values)
      if (outputs) return outputs
      parts ??= createInParts(settled, render, limits)
      return parts(values)
    }
    known.set(holding, fill)
    return fill
  }

  return values => {
    if (conditions.length > mostConditions) return null
    let holding = ''
    for (const key of conditions) {
      const value = values.get(key)
      if (value == null) return null
      holding += shows(value) ? '1' : '0'
    }
    return fillFor(holding)(values)
  }
}

/** Subject and segments, each prepared on its own. */
function createInParts(
  { subject, content }: Template,
  render: RenderInFull,
  limits: Parameters<typeof createPrepared>[2],
): Fill {
  const line = { subject, content: [] }
  const subjectOf = createPrepared(line, render, limits)
  const contentOf = createSegments(content, render, limits)
  return values => {
    const body = contentOf(values)
    if (body === null) return null
    const { subject, title } = subjectOf(values) ?? render(line, values)
    return { ...body, subject, title }
  }
}

/** The parts with each conditional replaced by its text or by nothing. */
function settle(parts: Parts, holds: ReadonlySet<string>): Parts {
  const settled: (string | Slot)[] = []
  for (const part of parts) {
    const next = typeof part === 'string' || part.text === null ? part : holds.has(part.key) ? part.text : ''
    const last = settled.at(-1)
    if (typeof next === 'string' && typeof last === 'string') settled[settled.length - 1] = last + next
    else if (next !== '') settled.push(next)
  }
  return settled
}
