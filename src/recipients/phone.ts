// Phone numbers, read the way people write them: the first valid number in the text counts (content-rules 9.2).

import { parsePhoneNumberFromString, searchPhoneNumbersInText } from 'libphonenumber-js/max'
import { createNorthAmericanTest, createPhonePlan, grouped, type PhonePlan } from './plans.ts'

export type PhoneProblem =
  | 'Number is None'
  | 'Not a valid number'
  | 'Not a valid local number'
  | 'Not a valid international number'
  | 'Not enough digits'
  | `Country code ${string} is not supported`

export type PhoneReading =
  | { ok: true; e164: string; countryCode: string; international: boolean }
  | { ok: false; problem: PhoneProblem }

export type PhoneRules = { international: boolean; plan?: PhonePlan }

const defaultPlan = createPhonePlan()
const isNorthAmerican = createNorthAmericanTest()

// The search costs up to 30 µs a character on hostile text, and nobody's number needs a longer sentence around it.
const longest = 250

/** An extension is dropped; with `international` false only numbers of the home country are read. */
export function readPhone(text: string | null, rules: PhoneRules): PhoneReading {
  const plan = rules.plan ?? defaultPlan
  if (text === null) return { ok: false, problem: 'Number is None' }
  if (text.includes(';')) return { ok: false, problem: 'Not a valid number' }
  const found = text.length > longest ? undefined : find(text, plan)
  const international = found !== undefined && found.countryCode !== plan.homeCode
  if (!rules.international && (!found || international)) return { ok: false, problem: 'Not a valid local number' }
  if (!found) return { ok: false, problem: 'Not a valid international number' }
  if (found.e164.length < 8) return { ok: false, problem: 'Not enough digits' }
  if (plan.supported && !plan.supported.has(found.countryCode))
    return { ok: false, problem: `Country code ${found.countryCode} is not supported` }
  return { ok: true, e164: found.e164, countryCode: found.countryCode, international }
}

/** `+1 613-555-0123`, or the text as it is when no number is found. */
export function humanPhone(text: string, plan: PhonePlan = defaultPlan): string {
  if (text.length > longest) return text
  const number = first(text, plan)
  if (!number) return text
  const ext = number.ext ? ` ext. ${number.ext}` : ''
  return `+${number.countryCallingCode} ${grouped(number.countryCallingCode, number.nationalNumber)}${ext}`
}

type Found = { e164: string; countryCode: string }

/** Exported so that a test can compare the two ways. */
export function find(text: string, plan: PhonePlan): Found | undefined {
  const plain = findPlain(text, plan)
  return plain === 'search' ? search(text, plan) : plain
}

/** The definition: first with the home country's habits, then only numbers with `+`. */
export function search(text: string, plan: PhonePlan): Found | undefined {
  const domestic = first(text, plan)
  if (domestic?.countryCallingCode === plan.homeCode) return found(domestic)
  const other = first(text)
  return other && found(other)
}

function first(text: string, plan?: PhonePlan) {
  const options = plan ? { defaultCountry: plan.region } : {}
  for (const { number } of searchPhoneNumbersInText(text, options)) return number
  return undefined
}

const found = (number: { number: string; countryCallingCode: string }): Found => ({
  e164: number.number,
  countryCode: number.countryCallingCode,
})

const formatted = /^(?:\+?1[ .-]?)?(?:\(([2-9]\d{2})\) ?|([2-9]\d{2})[ .-]?)(\d{3})[ .-]?(\d{4})$/
const plusDigits = /^\+[2-9]\d{6,14}$/

// Numbers written alone and in a usual way are one candidate of the search, so they need none. A bare run of digits that is
// no number holds no other number either; with separators inside, the search may still find one in a part of it.
function findPlain(text: string, plan: PhonePlan): Found | undefined | 'search' {
  const alone = text.trim()
  if (alone.length > 20) return 'search'
  const parts = plan.homeCode === '1' ? formatted.exec(alone) : null
  if (parts) {
    const digits = `${parts[1] ?? parts[2]}${parts[3]}${parts[4]}`
    if (isNorthAmerican(digits)) return { e164: `+1${digits}`, countryCode: '1' }
    const isBare = alone.endsWith(digits) && alone.length <= (alone.startsWith('+') ? 12 : 11)
    return isBare ? undefined : 'search'
  }
  if (!plusDigits.test(alone)) return 'search'
  const number = parsePhoneNumberFromString(alone)
  return number?.isPossible() && number.isValid() ? found(number) : undefined
}
