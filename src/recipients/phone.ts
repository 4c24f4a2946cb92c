// Parses phone numbers as people write them: the first valid number in the text counts (content-rules 9.2).
import { library, once } from './library.ts'
import { createNorthAmericanTest, createPhonePlan, type PhonePlan } from './plans.ts'

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

const defaultPlan = once(createPhonePlan)
const northAmericanTest = once(createNorthAmericanTest)
const isNorthAmerican = (digits: string) => northAmericanTest()(digits)

// Limits of the text: the library tries every part that looks like a number, at 30 µs each, and 4,000 crafted texts took 13 s. A
// real number has no longer text around it and fewer invalid numbers before it.
const longest = 64
const mostTries = 16

/** An extension is dropped; with `international` false only numbers of the home country are accepted. */
export function readPhone(text: string | null, rules: PhoneRules): PhoneReading {
  const plan = rules.plan ?? defaultPlan()
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

type Found = { e164: string; countryCode: string }

/** Exported so that a test can compare the fast path with the definition. */
export function find(text: string, plan: PhonePlan): Found | undefined {
  const quick = findAlone(text.trim(), plan)
  if (quick !== 'unknown') return quick
  if (mayHoldDomestic(text, plan)) return search(text, plan)
  return text.includes('+') ? found(first(text)) : undefined
}

/** The definition: first by the conventions of the home country, then only numbers with `+`. */
export function search(text: string, plan: PhonePlan): Found | undefined {
  const domestic = first(text, plan)
  return found(domestic?.countryCallingCode === plan.homeCode ? domestic : first(text))
}

// "Ten digits are required": the metadata also contains Canadian 310-xxxx, which cannot receive text messages.
function first(text: string, plan?: PhonePlan) {
  const options = { maxTries: mostTries, ...(plan && { defaultCountry: plan.region }) }
  for (const { number } of library().searchPhoneNumbersInText(text, options))
    if (number.countryCallingCode !== '1' || number.nationalNumber.length === 10) return number
  return undefined
}

const found = (number: { number: string; countryCallingCode: string } | undefined): Found | undefined =>
  number && { e164: number.number, countryCode: number.countryCallingCode }

const northAmerican = /^(?:\+?1[ .-]?)?(?:\(([2-9]\d{2})\) ?|([2-9]\d{2})[ .-]?)(\d{3})[ .-]?(\d{4})$/
const withPlus = /^\+[2-9](?:[ .-]?\d){6,14}$/

// A number alone in a usual format needs no search: it is the only candidate. If it is invalid, the search may still find a
// number in a part of it, unless it is plain digits.
function findAlone(text: string, plan: PhonePlan): Found | undefined | 'unknown' {
  if (text.length > 30) return 'unknown'
  const parts = plan.homeCode === '1' ? northAmerican.exec(text) : null
  if (parts) {
    const digits = `${parts[1] ?? parts[2]}${parts[3]}${parts[4]}`
    return isNorthAmerican(digits) ? { e164: `+1${digits}`, countryCode: '1' } : 'unknown'
  }
  if (!withPlus.test(text)) return 'unknown'
  const number = library().parsePhoneNumberFromString(text)
  if (number?.isPossible() && number.isValid()) return found(number)
  return /^\+\d+$/.test(text) ? undefined : 'unknown'
}

// A domestic number is ten consecutive digits of the text, punctuation ignored. Most invalid numbers have no such ten digits and
// need no search, which would try every part of them at 30 µs each.
function mayHoldDomestic(text: string, plan: PhonePlan): boolean {
  if (plan.homeCode !== '1') return true
  let digits = ''
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x30 && code <= 0x39) digits += text[i]
    else if (code > 0x7f) return true
  }
  for (let i = 0; i + 10 <= digits.length; i++) if (isNorthAmerican(digits.slice(i, i + 10))) return true
  return false
}
