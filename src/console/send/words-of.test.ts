import { expect, test } from 'vitest'
import { problemWords } from './words-of.ts'

const problem = { line: 2, column: 'email', problem: 'recipient', isRecipient: true } as const
const email = (value: string) => problemWords({ ...problem, value, message: 'Not a valid email address' }, 'email')
const phone = (message: string) => problemWords({ ...problem, value: '12', message }, 'sms')

test('the second line of a problem adds something to the first', () => {
  expect(email('ümläut@@x')[1]).toBe('Two @ signs')
  expect(email('Ann Example <ann@example.org>')[1]).toBe('Only the address goes here, without a name or angle brackets')
  expect(email('<ann@example.org>')[1]).toBe('Only the address goes here, without a name or angle brackets')
  expect(email('ann example@example.org')[1]).toBe('It has a space in it')
  expect(email('ann..example@example.org')).toEqual([
    'Not an e-mail address',
    'It has a character or a form that addresses cannot have',
  ])
  expect(phone('Not a valid number')).toEqual([
    'Not a phone number',
    'Write it with its country code, like +44 7911 123456',
  ])
  expect(phone('Country code 249 is not supported')[1]).toBe('Country code 249 is not supported')
})
