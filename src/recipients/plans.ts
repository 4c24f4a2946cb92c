// Numbering plans: the home country, the countries that may receive messages, and a fast exact test for numbers of the North
// American plan. The library compiles about fifty expressions for every number it validates (25–40 µs); compiled once they take 1
// µs, so 50,000 rows are checked in a second.

import type { CountryCode } from 'libphonenumber-js/max'
import { library, metadata } from './library.ts'

export type PhonePlan = {
  /** Calling code of domestic numbers. */
  homeCode: string
  /** The country whose conventions decide how a number without `+` is read. */
  region: CountryCode
  /** Calling codes that may receive messages; absent means all. */
  supported?: Set<string>
}

// content-rules 9.2
const defaultCodes = `1, 7, 20, 27, 30-34, 36, 39-41, 43-49, 51, 52, 54-58, 60-66, 81, 82, 84, 86, 90-95, 211-213, 216, 218,
  220-248, 250-258, 260-269, 290, 291, 297-299, 350-359, 370-383, 385-387, 389, 420, 421, 423, 500-509, 590-599, 670, 672-683,
  685-692, 852, 853, 855, 856, 870, 880, 886, 960-962, 964-968, 970-977, 992-996, 998`

/** `codes` in the syntax of the setting: `1, 30-34, 44`; `all` for every country. */
export function createPhonePlan(homeCode = '1', codes = defaultCodes): PhonePlan {
  const region = metadata().country_calling_codes[homeCode]?.[0]
  if (!region) throw new Error(`${homeCode} is not a country calling code`)
  if (codes.trim() === 'all') return { homeCode, region }
  const supported = new Set<string>()
  for (const part of codes.split(',')) {
    const [first = '', last = first] = part.trim().split('-')
    if (!/^\d{1,3}$/.test(first) || !/^\d{1,3}$/.test(last))
      throw new Error(`${part.trim()} is not a country calling code`)
    for (let code = Number(first); code <= Number(last); code++) supported.add(String(code))
  }
  return { homeCode, region, supported }
}

/** Countries in the syntax of the setting: `CA`, `FR`. */
export const isCountry = (text: string): text is CountryCode => Object.hasOwn(metadata().countries, text)

const homePlans = new Map<string, PhonePlan>()

/**
 * The plan of a home country, cached. Countries that share +1 share a plan: a number without a country code does not say which of
 * them is meant.
 */
export function homePlan(country: string): PhonePlan {
  const known = homePlans.get(country)
  if (known) return known
  if (!isCountry(country)) throw new Error(`${country} is not a country`)
  const homeCode = library().getCountryCallingCode(country)
  const plan = createPhonePlan(homeCode)
  plan.supported?.add(homeCode)
  const made = homeCode === northAmerica ? plan : { ...plan, region: country }
  homePlans.set(country, made)
  return made
}

const northAmerica: string = '1'

type Country = { general: RegExp; leading?: RegExp; types: { lengths?: number[]; pattern: RegExp }[] }

/** The rule of `isValid()`, for ten digits that do not start with 0 or 1. */
export function createNorthAmericanTest(): (digits: string) => boolean {
  const countries = (metadata().country_calling_codes[northAmerica] ?? []).map(readCountry)
  const isOfCountry = (country: Country, digits: string) =>
    country.general.test(digits) &&
    country.types.some(
      type => (type.lengths === undefined || type.lengths.includes(digits.length)) && type.pattern.test(digits),
    )
  // Leading digits assign a number to a country even if it is not valid there.
  return digits => {
    for (const country of countries) {
      if (country.leading?.test(digits)) return isOfCountry(country, digits)
      if (!country.leading && isOfCountry(country, digits)) return true
    }
    return false
  }
}

// Positions in the library's metadata, format 4 (its metadata.js); phone.test.ts compares the whole plan with the library, so an
// upgrade that changes them fails the test.
function readCountry(name: CountryCode): Country {
  const plan: unknown[] = metadata().countries[name] ?? []
  const leading = plan[10]
  const types = Array.isArray(plan[11]) ? plan[11] : []
  return {
    general: whole(plan[2]),
    ...(typeof leading === 'string' ? { leading: new RegExp(`^(?:${leading})`) } : {}),
    types: types
      .filter((type: unknown): type is [string, number[]?] => Array.isArray(type) && Boolean(type[0]))
      .map(([pattern, lengths]) => ({ ...(lengths ? { lengths } : {}), pattern: whole(pattern) })),
  }
}

const whole = (pattern: unknown) => new RegExp(`^(?:${String(pattern)})$`)
