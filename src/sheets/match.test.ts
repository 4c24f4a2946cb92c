import { describe, expect, test } from 'vitest'
import { bulkHeader, columnsOf, corrected, currentMatch, matchOf, messageOf, missingOf, targetsOf } from './match.ts'

const email = { channel: 'email', names: ['First name', 'end date'] } as const
const sms = { channel: 'sms', names: ['code'] } as const

describe('the automatic match', () => {
  test('letter case, spaces, hyphens and underscores do not count', () => {
    expect(matchOf(['END_DATE', 'Email-Address', 'firstname', 'x', 'Reference'], email)).toEqual([
      'value:end date',
      'recipient',
      'value:First name',
      null,
      'reference',
    ])
  })

  test('French, and other usual names of the recipient', () => {
    expect(matchOf(['adresse courriel'], email)).toEqual(['recipient'])
    expect(matchOf(['Numéro de téléphone', 'code'], sms)).toEqual(['recipient', 'value:code'])
    expect(matchOf(['name', 'E-Mail'], email)).toEqual([null, 'recipient'])
    expect(matchOf(['Mobile', 'code'], sms)).toEqual(['recipient', 'value:code'])
    // The right name comes first.
    expect(matchOf(['mail', 'email address'], email)).toEqual([null, 'recipient'])
  })

  test('a repeated header is used once', () => {
    expect(matchOf(['email address', 'Email address', 'end date', 'end date'], email)).toEqual([
      'recipient',
      null,
      'value:end date',
      null,
    ])
  })

  test('a placeholder with the name of the recipient needs no column of its own', () => {
    const template = { channel: 'email', names: ['email address', 'x'] } as const
    expect(targetsOf(template)).toEqual(['recipient', 'value:x', 'reference'])
    expect(missingOf(matchOf(['email address', 'x'], template), template)).toEqual([])
  })
})

describe('corrections', () => {
  const header = ['to whom', 'given', 'until']
  const match = corrected(
    matchOf(header, email),
    new Map([
      [0, 'recipient'],
      [1, 'value:First name'],
      [2, 'value:end date'],
    ] as const),
    email,
  )

  test('are followed by the header of the request', () => {
    expect(bulkHeader(header, match, email)).toEqual(['email address', 'First name', 'end date'])
    expect(columnsOf(header, match, email).map(column => column.isDifferent)).toEqual([true, true, true])
    expect(missingOf(match, email)).toEqual([])
  })

  test('a column that is not used loses a name that another column has now', () => {
    const names = ['email address', 'First name', 'other']
    const changed = corrected(
      matchOf(names, email),
      new Map([
        [1, null],
        [2, 'value:First name'],
      ] as const),
      email,
    )
    expect(bulkHeader(names, changed, email)).toEqual(['email address', '', 'First name'])
  })

  test('of an older version lose placeholders that are gone', () => {
    const older = ['recipient', 'value:gone', null] as const
    expect(currentMatch(older, header, email)).toEqual(['recipient', null, null])
    expect(currentMatch(null, ['email address'], email)).toEqual(['recipient'])
  })
})

test('a row as one message', () => {
  const match = matchOf(['end date', 'email address', 'reference', 'x'], email)
  expect(messageOf(['1 May', ' a@example.org ', 'r-1', 'ignored'], match)).toEqual({
    to: 'a@example.org',
    personalisation: { 'end date': '1 May' },
    reference: 'r-1',
  })
  expect(messageOf(['1 May'], match)).toEqual({ to: '', personalisation: { 'end date': '1 May' }, reference: null })
})
