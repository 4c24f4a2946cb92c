// Reads the body of a send: the checks of phases A and B (contract 2), the same for a key and for a person.
import type { Channel } from '../channels/index.ts'
import type { Clock } from '../core/clock.ts'
import { type Contents, isFile, shapeProblems } from '../files/file.ts'
import { invalid, plain, reader, show } from '../http/validation.ts'
import { readEmail } from '../recipients/email.ts'
import { readPhone } from '../recipients/phone.ts'
import { homePlan, type PhonePlan } from '../recipients/plans.ts'
import { itemProblem } from '../rendering/values.ts'
import { personalisationProblems } from './personalisation.ts'
import { scheduleProblem } from './schedule.ts'
import * as shape from './schemas.ts'

function emailReader(clock: Clock): (body: unknown, contents: Contents) => shape.SendInput {
  const read = reader<shape.EmailBody>(shape.emailBody, {
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
    const { email_address, email_reply_to_id, ...rest } = read(body)
    return common('email', email_address, email_reply_to_id, rest, contents)
  }
}

type ReadBody = (body: unknown, contents: Contents) => shape.SendInput

/** How each channel reads the body of a send, by the home country of the service. */
export function readersOf(clock: Clock): Readonly<Record<Channel, (country: string) => ReadBody>> {
  const email = emailReader(clock)
  return { email: () => email, sms: smsReaders(clock) }
}

/** One for each home country of phone numbers. */
function smsReaders(clock: Clock) {
  const readers = new Map<string, ReturnType<typeof smsReader>>()
  return (country: string) => {
    const known = readers.get(country) ?? smsReader(clock, homePlan(country))
    readers.set(country, known)
    return known
  }
}

function smsReader(clock: Clock, plan: PhonePlan): (body: unknown, contents: Contents) => shape.SendInput {
  const read = reader<shape.SmsBody>(shape.smsBody, {
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
    const { phone_number, sms_sender_id, ...rest } = read(body)
    return common('sms', phone_number, sms_sender_id, rest, contents)
  }
}

const scheduleCheck = (clock: Clock) => (text: string | null) => {
  const problem = text === null ? null : scheduleProblem(text, clock.now())
  return problem === null ? [] : [`scheduled_for ${problem}`]
}

// Phase B of the checks runs only on a body that its schema has accepted.
function common(
  channel: Channel,
  to: string,
  sender_id: string | undefined,
  rest: Pick<shape.EmailBody, 'reference' | 'template_id' | 'personalisation' | 'scheduled_for'>,
  contents: Contents,
): shape.SendInput {
  const personalisation = rest.personalisation ?? {}
  const problems = personalisationProblems(channel, personalisation, contents, show)
  if (problems.length > 0) throw invalid(problems.map(plain))
  return {
    to,
    template_id: rest.template_id,
    reference: rest.reference ?? null,
    personalisation,
    contents,
    scheduled_for: rest.scheduled_for ?? null,
    sender_id,
  }
}
