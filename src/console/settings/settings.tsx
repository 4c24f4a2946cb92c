// The settings of a service: what everybody in it sees, with links to what each may change.
import { CHANNELS } from '../../channels/index.ts'
import { readRequest } from '../../live-requests/read.ts'
import { dailyLimit, rateLimit, retentionDays } from '../../services/service.ts'
import { teamSizes } from '../../services/sql.ts'
import { Card, Done, PageHead, Time } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { orCaptured } from '../components/captured.tsx'
import { usePage } from '../components/context.ts'
import { Form } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { ServiceMode } from '../services/mode.tsx'
import { language, mark, plural, rich, say, t } from '../words/index.ts'
import { OriginsCard } from './origins.tsx'
import { originsOf } from './origins-read.ts'
import { countryWords, Setting, settingsPath } from './rows.tsx'

const DONE = {
  saved: mark('The settings are saved. Messages accepted from now on use them.'),
  same: mark('Nothing was different, so nothing was saved.'),
  'reply-to-asked': mark(
    'A link is on its way to the address. Once somebody there has opened it, messages can use the address.',
  ),
  'reply-to-again': mark('Another link is on its way. The one before does not work any longer.'),
  'reply-to-default': mark('Replies go to this address from now on, unless a message names another.'),
  'reply-to-removed': mark('The address is removed. Messages that were accepted keep it.'),
  'sender-added': mark('The text sender is added.'),
  'sender-default': mark('Text messages come from this sender from now on, unless a message names another.'),
  'sender-removed': mark('The text sender is removed. Messages that were accepted keep it.'),
  limits: mark('The limits are saved. They count from the next request on.'),
  suspended: mark('The service is suspended. Its team sees why.'),
  resumed: mark('The service may send again.'),
}

export async function settingsPage(visit: ServiceVisit): Promise<Answer> {
  const { parts, service, actor, query, url, formats } = visit
  const [{ replyTos, senders }, request, [size]] = await Promise.all([
    originsOf(visit),
    readRequest(parts, actor, service.id),
    teamSizes(parts.db.sql, [service.id]),
  ])
  const canChange = visit.may('manage-service')
  const isOperator = visit.may('manage-installation')
  const change = (field: string) => canChange && settingsPath(service.id, `/change#${field}`)
  const limits = isOperator && settingsPath(service.id, '/limits')
  const byOperator = t`by an operator`
  const people = size?.people ?? 0
  return {
    kind: 'page',
    title: t`Settings`,
    width: 'narrow',
    nav: 'settings',
    body: (
      <>
        <PageHead
          title={t`Settings`}
          lede={
            canChange
              ? rich`What holds for everything that ${<bdi>{service.name}</bdi>} sends.`
              : rich`What holds for everything that ${<bdi>{service.name}</bdi>} sends. Its managers can change it.`
          }
        />
        <Done done={query.get('done')} sentences={saidIn(orCaptured(visit, DONE))} />
        <Card id="general" title={t`General`} body={false}>
          <dl>
            <Setting name={t`Name`} change={change('name')}>
              <bdi>{service.name}</bdi>
            </Setting>
            <Setting name={t`Mode`} {...(!isOperator && !canChange && { by: byOperator })}>
              <ServiceMode service={service} /> <LiveLink visit={visit} isAsked={request?.decision === null} />
            </Setting>
            <Setting name={t`Team`}>
              <a href={url(`/s/${service.id}/team`)}>
                {plural(people, t`${formats.number(people)} person`, t`${formats.number(people)} people`)}
              </a>
            </Setting>
            <Setting name={t`Added`}>
              <Time at={service.created_at} />
            </Setting>
          </dl>
        </Card>
        <Card id="email" title={t`E-mail`} body={false}>
          <dl>
            <Setting name={t`From`} change={limits} by={byOperator}>
              <bdi>
                {service.name} &lt;{service.mailbox}@{parts.config.sendingDomain}&gt;
              </bdi>
            </Setting>
            <Setting name={t`Files`} change={change('files')}>
              {service.may_send_files ? t`May be attached or linked` : t`No`}
            </Setting>
          </dl>
        </Card>
        <OriginsCard visit={visit} kind="reply-to" origins={replyTos} />
        <Card id="text" title={t`Text messages`} body={false}>
          <dl>
            <Setting name={t`Start with the service’s name`} change={change('prefix')}>
              {service.sms_prefix ? t`Yes` : t`No`}
            </Setting>
            <Setting name={t`International numbers`} change={change('international')}>
              {service.may_send_international ? t`Yes` : t`No`}
            </Setting>
            <Setting name={t`Home country`} change={change('home_country')}>
              {countryWords(service.home_country ?? parts.config.homeCountry, language())}
              {service.home_country === null && <span class="muted"> {t`as for the whole installation`}</span>}
            </Setting>
          </dl>
        </Card>
        <OriginsCard visit={visit} kind="sender" origins={senders} />
        <Card id="limits" title={t`Limits and privacy`} body={false}>
          <dl>
            <Setting name={t`Daily limits`} change={limits} by={byOperator}>
              {t`${formats.number(dailyLimit(service, 'email'))} e-mails, ${formats.number(dailyLimit(service, 'sms'))} text messages`}
            </Setting>
            <Setting name={t`Requests`} change={limits} by={byOperator}>
              {t`${formats.number(rateLimit(service))} a minute for each type of key`}
            </Setting>
            {(['email', 'sms'] as const).map(channel => (
              <Setting
                key={channel}
                name={channel === 'email' ? t`Keep e-mails` : t`Keep text messages`}
                change={change(CHANNELS[channel].columns.retentionDays)}
              >
                {daysWords(retentionDays(service, channel), formats.number)}
              </Setting>
            ))}
          </dl>
        </Card>
        {isOperator && <StopCard visit={visit} />}
        <AsCommand command={`herald service show ${service.id}`} />
      </>
    ),
  }
}

export const saidIn = <K extends string>(marked: Readonly<Record<K, ReturnType<typeof mark>>>) =>
  Object.fromEntries(Object.entries<ReturnType<typeof mark>>(marked).map(([key, text]) => [key, say(text)]))

const daysWords = (days: number, number: (value: number) => string) =>
  plural(days, t`${number(days)} day`, t`${number(days)} days`)

/** What can be done about the mode. */
function LiveLink({ visit, isAsked }: { visit: ServiceVisit; isAsked: boolean }) {
  const { service, url } = visit
  const isOperator = visit.may('manage-installation')
  if (service.mode === 'live' && !isOperator) return null
  const words =
    service.mode === 'live'
      ? t`Back to trial`
      : isAsked
        ? isOperator
          ? t`Decide about going live`
          : t`You asked to go live`
        : t`Going live`
  return <a href={url(settingsPath(service.id, '/live'))}>{words}</a>
}

function StopCard({ visit }: { visit: ServiceVisit }) {
  const { url } = usePage()
  const { service } = visit
  const isStopped = service.state === 'suspended'
  return (
    <section class="card card-danger" aria-labelledby="stop">
      <div class="card-head">
        <h2 id="stop">{isStopped ? t`Let this service send again` : t`Stop this service`}</h2>
      </div>
      {isStopped ? (
        <div class="card-body row row-between">
          <p>{t`It accepts and sends messages again at once. What became due meanwhile has failed and stays so.`}</p>
          <Form action={settingsPath(service.id, '/resume')} class="row">
            <button class="btn" type="submit">{t`Resume the service`}</button>
          </Form>
        </div>
      ) : (
        <div class="card-body row row-between">
          <p>{t`Its keys can read but not send, and messages that become due meanwhile fail. Its team sees why.`}</p>
          <a class="btn btn-danger" href={url(settingsPath(service.id, '/suspend'))}>
            {t`Suspend the service`}
          </a>
        </div>
      )}
    </section>
  )
}
