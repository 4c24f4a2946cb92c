import { describe, expect, test } from 'vitest'
import { draftEmail, draftSms } from './draft.ts'
import { withBasicLetters } from './gsm.ts'

describe('a draft of a text message', () => {
  test('names the character that needs the expensive alphabet, where it is, and what it costs', () => {
    const message = 'x'.repeat(130)
    const draft = draftSms(`${message}\n((code)) à bientôt – ((name))`, { code: '1', name: ['Zoë', 'é'] }, 'Pâques')
    expect(draft.odd).toEqual([
      { char: 'â', kind: 'needs UCS-2', instead: 'a', origin: 'prefix' },
      { char: 'ô', kind: 'needs UCS-2', instead: 'o', origin: { at: 147, line: 2 } },
      { char: '–', kind: 'replaced', instead: '-', origin: { at: 150, line: 2 } },
      { char: 'ë', kind: 'needs UCS-2', instead: 'e', origin: { name: 'name' } },
    ])
    expect(draft).toMatchObject({ encoding: 'UCS-2', fragments: 3, cheaper: { encoding: 'GSM-7', fragments: 2 } })
    expect(draft.parts).toHaveLength(3)
    expect(draft.parts.join('')).toBe(draft.text)
    expect(draft.parts[0]).toHaveLength(67)
  })

  test('characters of the basic alphabet are not odd, and a text of them has no cheaper form', () => {
    expect(draftSms('Prix: 5 € à Genève {x}', {}, null)).toMatchObject({
      odd: [],
      cheaper: null,
      encoding: 'GSM-7',
      parts: ['Prix: 5 € à Genève {x}'],
    })
  })

  test('a letter without a basic form stays', () => expect(withBasicLetters('œuf, côté')).toBe('œuf, coté'))

  test('the text of a condition is searched at its place', () => {
    const [found] = draftSms('a\n((late??vous êtes (en) retard))', {}, null).odd
    expect(found).toMatchObject({ char: 'ê', origin: { at: 15, line: 2 } })
  })
})

describe('a draft of an e-mail', () => {
  const draft = (content: string, values = {}) => draftEmail({ subject: 's', content }, values).refusedTargets

  test('names links that lead nowhere', () => {
    expect(draft('[a](javascript:alert(1)) [b](https://x.example) [c](mailto:a@x.example)')).toEqual([
      'javascript:alert(1',
    ])
    expect(draft('[a](JaVa&#115;cript:x) and [d]\n\n[d]: data:text/html,x')).toHaveLength(2)
    expect(draft('[a](((url)))', { url: 'vbscript:x' })).toEqual(['vbscript:x'])
    expect(draft('[a](((url))) [b](#top) [c](/path)')).toEqual([])
  })

  test('is dark or light for a preview, and neither when it is sent', () => {
    const html = (scheme?: 'light' | 'dark') =>
      draftEmail({ subject: 's', content: 'c', ...(scheme && { scheme }) }, {}).html
    expect(html('dark')).toContain('@media all {')
    expect(html('light')).toContain('@media not all {')
    expect(html()).toContain('@media (prefers-color-scheme: dark) {')
  })
})
