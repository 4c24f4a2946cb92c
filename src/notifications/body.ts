// Reads the body of a send: the checks of phases A and B (contract 2), the same for a key and for a person.
import type { Channel } from '../channels/plain.ts'
import type { Clock } from '../core/clock.ts'
import type { Refusal } from '../core/refusal.ts'
import { type Contents, isFile, shapeProblems } from '../files/file.ts'
import { examiner, invalid, plain, show } from '../http/validation.ts'
import { readEmail } from '../recipients/email.ts'
import { readPhone } from '../recipients/phone.ts'
import { homePlan, type PhonePlan } from '../recipients/plans.ts'
import { itemProblem } from '../rendering/values.ts'
import { personalisationProblems } from './personalisation.ts'
import { scheduleProblem } from './schedule.ts'
import * as shape from './schemas.ts'

/** A body and what is wrong with it. `unread`: fields without a usable value; `input` has a neutral one for them. */
export type ReadBody = {
  input: shape.SendInput
  unread: ReadonlySet<Field>
  /** Of phase A, then of phase B, each with all its sentences. A send stops at the first. */
  refusals: readonly Refusal[]
}
export type Field = keyof shape.SendInput

type ExamineBody = (body: unknown, contents: Contents) => ReadBody

/** How each channel reads the body of a send, by the home country of the service. Wrong bodies are refused. */
export function readersOf(
  clock: Clock,
): Readonly<Record<Channel, (country: string) => (body: unknown, contents: Contents) => shape.SendInput>> {
  const { email, sms } = examinersOf(clock)
  return {
    email: country => (body, contents) => accepted(email(country)(body, contents)),
    sms: country => (body, contents) => accepted(sms(country)(body, contents)),
  }
}

/** The same, for callers that go on with what is right. */
export function examinersOf(clock: Clock): Readonly<Record<Channel, (country: string) => ExamineBody>> {
  const email = emailExaminer(clock)
  return { email: () => email, sms: smsExaminers(clock) }
}

function accepted({ input, refusals }: ReadBody): shape.SendInput {
  for (const refusal of refusals) throw refusal
  return input
}

function emailExaminer(clock: Clock): ExamineBody {
  const examine = examiner<shape.EmailBody>(shape.emailBody, {
    checks: {
      email_address: (text: string) => (readEmail(text).ok ? [] : ['email_address Not a valid email address']),
      personalisation: (values: Record<string, unknown>) =>
        Object.entries(values).flatMap(([name, value]) =>
          isFile(value) ? shapeProblems({ [name]: value }, show) : itemProblem(show(name), value),
        ),
      scheduled_for: scheduleCheck(clock),
    },
  })
  return (body, contents) => {
    const { problems, sound } = examine(body)
    return common('email', body, problems, sound, sound.email_address, sound.email_reply_to_id, contents)
  }
}

/** One for each home country of phone numbers. */
function smsExaminers(clock: Clock) {
  const examiners = new Map<string, ExamineBody>()
  return (country: string) => {
    const known = examiners.get(country) ?? smsExaminer(clock, homePlan(country))
    examiners.set(country, known)
    return known
  }
}

function smsExaminer(clock: Clock, plan: PhonePlan): ExamineBody {
  const examine = examiner<shape.SmsBody>(shape.smsBody, {
    checks: {
      phone_number: (text: string) => {
        const phone = readPhone(text, { international: true, plan })
        return phone.ok ? [] : [`phone_number ${phone.problem}`]
      },
      personalisation: (values: Record<string, unknown>) =>
        Object.entries(values).flatMap(([name, value]) => itemProblem(show(name), value)),
      scheduled_for: scheduleCheck(clock),
    },
  })
  return (body, contents) => {
    const { problems, sound } = examine(body)
    return common('sms', body, problems, sound, sound.phone_number, sound.sms_sender_id, contents)
  }
}

const scheduleCheck = (clock: Clock) => (text: string | null) => {
  const problem = text === null ? null : scheduleProblem(text, clock.now())
  return problem === null ? [] : [`scheduled_for ${problem}`]
}

/** The fields that both channels have; nothing is wrong with those that are set. */
type SoundFields = Pick<Partial<shape.EmailBody>, 'reference' | 'template_id' | 'personalisation' | 'scheduled_for'>

/** Fields of the body by the names of the input. */
const NAMES: Readonly<Record<string, Field>> = {
  email_address: 'to',
  phone_number: 'to',
  email_reply_to_id: 'sender_id',
  sms_sender_id: 'sender_id',
  template_id: 'template_id',
  personalisation: 'personalisation',
  scheduled_for: 'scheduled_for',
}

function common(
  channel: Channel,
  body: unknown,
  problems: readonly string[],
  sound: SoundFields,
  to: string | undefined,
  sender_id: string | undefined,
  contents: Contents,
): ReadBody {
  const unread = problems.length === 0 ? NONE : unreadIn(body, { ...sound, to, sender_id })
  const personalisation = sound.personalisation ?? {}
  // Phase B needs values that the schema has accepted.
  const later = unread.has('personalisation')
    ? []
    : personalisationProblems(channel, personalisation, contents, show).map(plain)
  return {
    input: {
      to: to ?? '',
      template_id: sound.template_id ?? '',
      reference: sound.reference ?? null,
      personalisation,
      contents,
      scheduled_for: sound.scheduled_for ?? null,
      sender_id,
    },
    unread: later.length === 0 ? unread : new Set([...unread, 'contents']),
    refusals:
      problems.length === 0 && later.length === 0
        ? ACCEPTED
        : [problems, later].filter(sentences => sentences.length > 0).map(sentences => invalid(sentences)),
  }
}

const NONE: ReadonlySet<Field> = new Set()
const ACCEPTED: readonly Refusal[] = []

/** Required fields without a usable value, and optional ones that are given but wrong. */
function unreadIn(body: unknown, sound: Readonly<Record<string, unknown>>): Set<Field> {
  const given = typeof body === 'object' && body !== null ? Object.keys(body) : []
  const fields: readonly Field[] = [...given.flatMap(name => NAMES[name] ?? []), 'to', 'template_id']
  return new Set(fields.filter(field => sound[field] === undefined))
}
