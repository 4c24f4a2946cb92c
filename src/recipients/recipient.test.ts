import fc from 'fast-check'
import { expect, test } from 'vitest'
import { safelistForm } from './recipient.ts'

test('9.3 the form of anything but text is empty', () => {
  expect(safelistForm(42)).toBe('')
})

test('a normal form is its own normal form', () => {
  const text = fc.oneof(
    fc.string(),
    fc.emailAddress(),
    fc.constantFrom('613 555 0123', '+33 6 12 34 56 78', ' A@B.CO '),
  )
  fc.assert(
    fc.property(text, recipient => {
      const form = safelistForm(recipient)
      expect(safelistForm(form)).toBe(form)
    }),
  )
})
