// What only operators change: limits and the mailbox, suspending and resuming.
import { CHANNELS } from '../../channels/index.ts'
import { change, resume, suspend } from '../../services/change.ts'
import type { Service } from '../../services/service.ts'
import { type FieldErrors, Input, Textarea } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { errorsAt, problemOf } from '../refused.ts'
import { rich, t } from '../words/index.ts'
import { wholeIn } from './change.tsx'
import { settingsForm } from './form.tsx'
import { settingsPath } from './rows.tsx'

const FIELDS = ['email_daily_limit', 'sms_daily_limit', 'rate_limit'] as const
type Given = Readonly<Record<(typeof FIELDS)[number] | 'mailbox', string>>

const textOf = (value: number | null) => (value === null ? '' : String(value))
const givenBy = (service: Service): Given => ({
  mailbox: service.mailbox,
  email_daily_limit: textOf(service.email_daily_limit),
  sms_daily_limit: textOf(service.sms_daily_limit),
  rate_limit: textOf(service.rate_limit),
})

export const limitsForm = (visit: ServiceVisit): Answer => form(visit, givenBy(visit.service), {})

export async function saveLimits(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, form: fields } = visit
  const before = givenBy(service)
  const given = Object.fromEntries(Object.keys(before).map(name => [name, (fields.get(name) ?? '').trim()])) as Given
  const numbers = FIELDS.filter(name => given[name] !== before[name]).map(
    name => [name, given[name] === '' ? null : wholeIn(given[name])] as const,
  )
  const changes = {
    ...Object.fromEntries(numbers),
    ...(given.mailbox !== before.mailbox && { mailbox: given.mailbox }),
  }
  const to = (done: string): Answer => ({ kind: 'redirect', to: settingsPath(service.id, `?done=${done}`) })
  if (Object.keys(changes).length === 0) return to('same')
  try {
    await change(parts, actor, service.id, changes)
    return to('limits')
  } catch (error) {
    return form(visit, given, errorsAt(error, ['email_daily_limit', 'sms_daily_limit', 'rate_limit', 'mailbox']))
  }
}

function form(visit: ServiceVisit, given: Given, errors: FieldErrors): Answer {
  const { service, parts, formats } = visit
  const usual = (channel: 'email' | 'sms') =>
    t`Empty: ${formats.number(CHANNELS[channel].dailyLimits[service.mode])}, as for every service in this mode.`
  return settingsForm(
    visit,
    {
      title: t`Change the limits`,
      lede: rich`As an operator you decide how much ${<bdi>{service.name}</bdi>} may send.`,
      errors,
      path: '/limits',
      button: t`Save the limits`,
      command: `herald service set ${service.id} --email-daily-limit 50000 --rate-limit default`,
    },
    <>
      <Input
        label={t`E-mails a day`}
        name="email_daily_limit"
        type="number"
        width="sm"
        hint={usual('email')}
        value={given.email_daily_limit}
        error={errors.email_daily_limit}
      />
      <Input
        label={t`Text messages a day`}
        name="sms_daily_limit"
        type="number"
        width="sm"
        hint={usual('sms')}
        value={given.sms_daily_limit}
        error={errors.sms_daily_limit}
      />
      <Input
        label={t`Requests a minute, for each type of key`}
        name="rate_limit"
        type="number"
        width="sm"
        hint={t`Empty: ${formats.number(1_000)}.`}
        value={given.rate_limit}
        error={errors.rate_limit}
      />
      <Input
        label={t`Mailbox that e-mails come from`}
        name="mailbox"
        width="md"
        hint={t`What stands before @${parts.config.sendingDomain}.`}
        value={given.mailbox}
        error={errors.mailbox}
        required
      />
    </>,
  )
}

export const suspendForm = (visit: ServiceVisit): Answer => suspending(visit, '', undefined)

export async function suspendService(visit: ServiceVisit): Promise<Answer> {
  const reason = visit.form.get('reason') ?? ''
  try {
    await suspend(visit.parts, visit.actor, visit.service.id, reason)
    return { kind: 'redirect', to: settingsPath(visit.service.id, '?done=suspended') }
  } catch (error) {
    return suspending(visit, reason, problemOf(error))
  }
}

export async function resumeService(visit: ServiceVisit): Promise<Answer> {
  await resume(visit.parts, visit.actor, visit.service.id)
  return { kind: 'redirect', to: settingsPath(visit.service.id, '?done=resumed') }
}

const suspending = (visit: ServiceVisit, reason: string, problem: string | undefined): Answer =>
  settingsForm(
    visit,
    {
      title: t`Suspend ${visit.service.name}`,
      heading: rich`Suspend ${<bdi>{visit.service.name}</bdi>}`,
      lede: t`Its keys can read but not send. Messages and jobs that become due meanwhile fail and are not sent later.`,
      errors: { reason: problem },
      not: t`Not suspended yet`,
      path: '/suspend',
      keep: t`Keep it running`,
      button: t`Suspend the service`,
      isDanger: true,
      command: `herald service set ${visit.service.id} --state suspended --reason TEXT`,
    },
    <Textarea
      label={t`Why`}
      name="reason"
      rows={3}
      hint={t`The team sees it on every page, and it stays in the audit log. Name no recipients.`}
      value={reason}
      error={problem}
      required
    />,
  )
