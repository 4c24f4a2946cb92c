// Validates values of a service and of its lists: returns the text to store, or throws a refusal.
import { readEmail } from '../recipients/email.ts'
import { readPhone } from '../recipients/phone.ts'
import { isCountry, type PhonePlan } from '../recipients/plans.ts'
import { refuse } from './refusals.ts'

const LONGEST_NAME = 255
const LARGEST = 2_147_483_647 // the largest integer of PostgreSQL

export function nameFrom(text: string, what = 'name'): string {
  const name = text.trim()
  if (name === '') throw refuse.empty(what).about('name')
  if ([...name].length > LONGEST_NAME) throw refuse.tooLong(what, LONGEST_NAME).about('name')
  // Names appear in e-mail headers and before text messages.
  if (/[\p{Cc}\u2028\u2029]/u.test(name)) throw refuse.notOneLine(what).about('name')
  return name
}

const LONGEST_REASON = 1_000

/** A few sentences that one person writes for others. */
export function reasonFrom(text: string, what = 'reason'): string {
  const reason = text.trim()
  if (reason === '') throw refuse.empty(what)
  if ([...reason].length > LONGEST_REASON) throw refuse.tooLong(what, LONGEST_REASON)
  return reason
}

export function mailboxOf(text: string): string {
  const mailbox = text.trim()
  if (!/^[a-z0-9._-]{1,64}$/.test(mailbox) || /^\.|\.\.|\.$/.test(mailbox))
    throw refuse.notMailbox(text).about('mailbox')
  return mailbox
}

export function emailFrom(text: string): string {
  const email = readEmail(text)
  if (!email.ok) throw refuse.notEmail(text)
  return email.address
}

export function phoneFrom(text: string, plan: PhonePlan): string {
  const phone = readPhone(text, { international: true, plan })
  if (!phone.ok) throw refuse.notPhone(text)
  return phone.e164
}

/** A phone number as E.164, so that one number is one sender; short codes and names as typed (contract 22.18). */
export function senderFrom(text: string, plan: PhonePlan): string {
  const sender = text.trim()
  if (/^[A-Za-z0-9]{1,11}$/.test(sender) && /[A-Za-z]/.test(sender)) return sender
  const phone = readPhone(sender, { international: true, plan })
  if (phone.ok) return phone.e164
  if (/^\d{3,8}$/.test(sender)) return sender
  throw refuse.notSender(text)
}

export function recipientFrom(text: string, plan: PhonePlan): string {
  if (text.includes('@')) return emailFrom(text)
  const phone = readPhone(text, { international: true, plan })
  if (!phone.ok) throw refuse.notRecipient(text)
  return phone.e164
}

export function checkCountry(country: string | null): void {
  if (country !== null && !isCountry(country)) throw refuse.notCountry(country).about('home_country')
}

export function checkLimit(limit: number | null, what: string, field: string): void {
  if (limit === null) return
  if (!Number.isInteger(limit) || limit < 0 || limit > LARGEST) throw refuse.notLimit(what).about(field)
}

export function checkDays(days: number, what: string, field: string): void {
  if (!Number.isInteger(days) || days < 1 || days > 365) throw refuse.notDays(what).about(field)
}
