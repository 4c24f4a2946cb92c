// What only operators change: limits and the mailbox, suspending and resuming.
import { CHANNELS } from '../../channels/index.ts'
import { change, resume, suspend } from '../../services/change.ts'
import type { Service } from '../../services/service.ts'
import { Card, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { ErrorSummary, type FieldErrors, Form, Input, Textarea } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { problemOf } from '../refused.ts'
import { rich, t } from '../words/index.ts'
import { wholeIn } from './change.tsx'
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
    const sentence = problemOf(error)
    const field = /mailbox/.test(sentence)
      ? 'mailbox'
      : /requests/.test(sentence)
        ? 'rate_limit'
        : /text/.test(sentence)
          ? 'sms_daily_limit'
          : 'email_daily_limit'
    return form(visit, given, { [field]: sentence })
  }
}

function form({ service, parts, url, formats }: ServiceVisit, given: Given, errors: FieldErrors): Answer {
  const isWrong = Object.keys(errors).length > 0
  const title = t`Change the limits`
  const usual = (channel: 'email' | 'sms') =>
    t`Empty: ${formats.number(CHANNELS[channel].dailyLimits[service.mode])}, as for every service in this mode.`
  return {
    kind: 'page',
    title: isWrong ? t`Error: ${title}` : title,
    width: 'narrow',
    nav: 'settings',
    ...(isWrong && { status: 422 }),
    body: (
      <>
        <PageHead
          title={title}
          crumbs={[[t`Settings`, settingsPath(service.id)]]}
          lede={rich`As an operator you decide how much ${<bdi>{service.name}</bdi>} may send.`}
        />
        <ErrorSummary errors={errors} />
        <Card>
          <Form action={settingsPath(service.id, '/limits')}>
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
            <div class="row">
              <a class="btn" href={url(settingsPath(service.id))}>
                {t`Cancel`}
              </a>
              <button class="btn btn-primary" type="submit">
                {t`Save the limits`}
              </button>
            </div>
          </Form>
        </Card>
        <AsCommand command={`herald service set ${service.id} --email-daily-limit 50000 --rate-limit default`} />
      </>
    ),
  }
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

function suspending({ service, url }: ServiceVisit, reason: string, problem: string | undefined): Answer {
  const title = t`Suspend ${service.name}`
  return {
    kind: 'page',
    title: problem ? t`Error: ${title}` : title,
    width: 'narrow',
    nav: 'settings',
    ...(problem && { status: 422 }),
    body: (
      <>
        <PageHead
          title={rich`Suspend ${<bdi>{service.name}</bdi>}`}
          crumbs={[[t`Settings`, settingsPath(service.id)]]}
          lede={t`Its keys can read but not send. Messages and jobs that become due meanwhile fail and are not sent later.`}
        />
        <ErrorSummary errors={{ reason: problem }} title={t`Not suspended yet`} />
        <Card>
          <Form action={settingsPath(service.id, '/suspend')}>
            <Textarea
              label={t`Why`}
              name="reason"
              rows={3}
              hint={t`The team sees it on every page, and it stays in the audit log. Name no recipients.`}
              value={reason}
              error={problem}
              required
            />
            <div class="row">
              <a class="btn" href={url(settingsPath(service.id))}>
                {t`Keep it running`}
              </a>
              <button class="btn btn-danger" type="submit">
                {t`Suspend the service`}
              </button>
            </div>
          </Form>
        </Card>
        <AsCommand command={`herald service set ${service.id} --state suspended --reason TEXT`} />
      </>
    ),
  }
}
