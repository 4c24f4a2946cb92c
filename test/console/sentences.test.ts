// Sentences that other parts of Herald make have a French translation where the console shows them.
import { readFileSync } from 'node:fs'
import { h } from 'preact'
import { render } from 'preact-render-to-string'
import { describe, expect, test } from 'vitest'
import { inLanguage } from '../../src/console/words/index.ts'
import { fromNoun, known } from '../../src/console/words/nouns.tsx'
import { STATUSES } from '../../src/notifications/status.ts'
import { type Facts, NOTHING_TO_DO, partsOf } from '../../src/timeline/sentence.ts'

const inFrench = (sentence: string) => inLanguage('fr', () => known(sentence))

const NOW = '2026-11-12 14:00:00+00'
const BEFORE = '2026-11-12 13:00:00+00'
const AFTER = '2026-11-12 15:00:00+00'
const CHOICES: { readonly [F in keyof Facts]?: readonly Facts[F][] } = {
  channel: ['email', 'sms'],
  keyType: ['normal', 'test'],
  cause: ['attempt', 'receipt', 'expiry'],
  provider: [null, 'relay', 'capture', 'simulation'],
  attempts: [0, 1, 3],
  uncertain: [false, true],
  isLastLost: [false, true],
  scheduledFor: [null, AFTER],
  nextTryAt: [null, AFTER],
  isHeld: [false, true],
  cancelledBy: [null, 'the operator', 'the key "Website"'],
}
const FACTS: Omit<Facts, 'status'> = {
  channel: 'email',
  keyType: 'normal',
  cause: null,
  provider: 'relay',
  detail: null,
  reply: null,
  response: null,
  attempts: 1,
  uncertain: false,
  isLastLost: false,
  createdAt: BEFORE,
  scheduledFor: null,
  lastAttemptAt: BEFORE,
  nextTryAt: null,
  completedAt: BEFORE,
  cancelledBy: null,
  isHeld: false,
  now: NOW,
}

/** Facts that differ from the usual ones in one or two respects. */
function* variants(): Generator<Omit<Facts, 'status'>> {
  const changes = Object.entries(CHOICES).flatMap(([name, values]) => values.map(value => ({ [name]: value })))
  for (const one of changes) for (const other of changes) yield { ...FACTS, ...one, ...other }
}

describe('sentences of nouns', () => {
  test('every part of a sentence about a message is translated', () => {
    const parts = new Set<string>()
    for (const facts of variants())
      for (const status of STATUSES) for (const part of partsOf({ ...facts, status })) parts.add(part)
    expect(parts.size).toBeGreaterThan(50)
    const missing = [...parts].filter(part => part !== NOTHING_TO_DO && inFrench(part) === part)
    expect(missing).toEqual([])
  })

  test('every meaning of a reply is translated', () => {
    const source = readFileSync(new URL('../../src/timeline/reply.ts', import.meta.url), 'utf8')
    const texts = [...source.matchAll(/(?:name|is|advice|LATER):? ?=? (?:'([^']*)'|"([^"]*)")/g)].map(
      ([, single, double]) => single ?? double ?? '',
    )
    expect(texts.length).toBeGreaterThan(90)
    expect(texts.filter(text => inFrench(text) === text)).toEqual([])
  })

  test('values stay, and sentences within sentences are translated', () => {
    expect(inFrench('accepted by the provider relay at 14:05 UTC')).toBe('accepté par le fournisseur relay à 14:05 UTC')
    expect(inFrench('cancelled by the key "Website" at 14:05 UTC')).toBe(
      'annulé par la clé «\u00a0Website\u00a0» à 14:05 UTC',
    )
    expect(inFrench('tried 3 times until 14:05 UTC')).toBe('essayé 3 fois jusqu’à 14:05 UTC')
    expect(inFrench('"a@b" is not a valid e-mail address.')).toBe(
      '«\u00a0a@b\u00a0» n’est pas une adresse courriel valable.',
    )
  })

  test('a part keeps its first letter small or capital', () => {
    expect(inFrench('the provider refused it')).toBe('le fournisseur l’a refusé')
    expect(inFrench('Cancelled')).toBe('Annulé')
  })

  test('others stay English, and say so on a page', () => {
    const html = (language: 'en' | 'fr') =>
      inLanguage(language, () => render(h('p', null, fromNoun('No result <found>'))))
    expect(html('fr')).toBe('<p><span lang="en">No result &lt;found></span></p>')
    expect(html('en')).toBe('<p>No result &lt;found></p>')
    expect(known('Service is suspended')).toBe('Service is suspended')
  })
})
