// Jobs, limits and failing templates.
import type { ShownJob } from '../../bulk/sql/read.ts'
import { groupOf } from '../../notifications/status.ts'
import { Card } from '../components/basics.tsx'
import { ENDED, ENDINGS, endingOfJob } from '../components/captured.tsx'
import { usePage } from '../components/context.ts'
import { Table, Title } from '../components/list.tsx'
import { Bar, Meter } from '../components/numbers.tsx'
import { JobStatus, messageStatusWords } from '../components/status.tsx'
import type { ServiceVisit } from '../page.ts'
import { type Marked, mark, rich, say, t } from '../words/index.ts'
import { messagesUrl } from './links.ts'
import type { Shown } from './read.ts'

export function Jobs({ visit, shown }: { visit: ServiceVisit; shown: Shown }) {
  const { number } = visit.formats
  if (shown.jobs.length === 0) return null
  return (
    <Card title={t`Jobs in progress`} body={false}>
      <Table
        caption={t`Jobs in progress`}
        rows={shown.jobs}
        columns={[
          {
            head: t`Job`,
            cell: job => (
              <Title
                href={visit.url(`/s/${visit.service.id}/jobs/${job.id}`)}
                sub={shown.templates.get(job.template_id)?.name}
              >
                {job.name}
              </Title>
            ),
          },
          {
            head: t`Status`,
            kind: 'status',
            cell: job => <JobStatus status={job.status} isScheduled={job.scheduled_for !== null} />,
          },
          { head: t`Progress`, cell: job => <Progress visit={visit} job={job} /> },
          {
            head: t`Done`,
            kind: 'num',
            cell: job => t`${number(progressOf(job).done)} of ${number(job.notification_count)}`,
          },
        ]}
      />
    </Card>
  )
}

function progressOf({ counts }: ShownJob) {
  const of = (group: string) =>
    counts.reduce((sum, { status, count }) => (groupOf(status) === group ? sum + count : sum), 0)
  const [delivered, inTransit, failed] = [of('delivered'), of('in-transit'), of('failed')]
  return { delivered, inTransit, failed, done: delivered + failed }
}

function Progress({ visit, job }: { visit: ServiceVisit; job: ShownJob }) {
  const { formats } = usePage()
  if (job.status === 'pending' && job.scheduled_for !== null)
    return <>{rich`Starts ${formats.day(job.scheduled_for)} at ${formats.clock(job.scheduled_for)}`}</>
  const { delivered, inTransit, failed } = progressOf(job)
  const ending = endingOfJob(visit, job, null)
  const share = (part: number) => formats.share(part, job.notification_count)
  return (
    <Bar
      label={[ENDED[ending](share(delivered)), t`${share(inTransit)} in transit`, t`${share(failed)} failed`].join(
        ', ',
      )}
      whole={job.notification_count}
      parts={[
        { tone: ENDINGS[ending][0], value: delivered },
        { tone: 'info', value: inTransit },
        { tone: 'bad', value: failed },
      ]}
    />
  )
}

const METERS: Record<string, readonly [label: Marked, what: Marked]> = {
  email: [mark('E-mails'), mark('e-mails')],
  sms: [mark('Text messages'), mark('text messages')],
}

export function Limits({ shown }: { shown: Shown }) {
  const { formats } = usePage()
  return (
    <Card title={t`Limits today`} foot={t`Counted from midnight UTC, by the day on which a message is due.`}>
      <div class="stack">
        {shown.limits.map(({ channel, used, limit }) => {
          const [label, what] = METERS[channel] ?? [mark(channel), mark(channel)]
          const left = Math.max(0, limit - used)
          return (
            <Meter key={channel} label={say(label)} what={say(what)} used={used} limit={limit}>
              {used >= limit * 0.9 && (
                <>
                  <span class={left === 0 ? 'bad strong' : 'warn strong'}>{t`${formats.number(left)} left.`}</span>{' '}
                  {t`Starts again at midnight UTC. An operator can raise the limit.`}
                </>
              )}
            </Meter>
          )
        })}
      </div>
    </Card>
  )
}

/** Above this share, mail servers begin to distrust a sender. */
const HARMFUL = 0.05

export function FailingTemplates({ visit, shown }: { visit: ServiceVisit; shown: Shown }) {
  const { number, share } = visit.formats
  const { failing } = shown
  if (failing.length === 0) return null
  return (
    <Card title={t`Failing templates`} body={false} foot={t`Over 5 % your sender’s reputation suffers.`}>
      <Table
        caption={t`Templates with the most failures, last 7 days`}
        rows={failing}
        columns={[
          {
            head: t`Template`,
            cell: ({ template_id, reasons: [reason] }) => {
              const template = shown.templates.get(template_id)
              return (
                <Title
                  href={visit.url(`/s/${visit.service.id}/templates/${template_id}`)}
                  sub={
                    reason &&
                    `${number(reason.messages)} ${messageStatusWords(reason.status, template?.type ?? 'email').toLowerCase()}`
                  }
                >
                  {template?.name ?? t`A template`}
                </Title>
              )
            },
          },
          {
            head: t`Failed`,
            kind: 'num',
            cell: ({ template_id, failed, accepted }) => (
              <a
                class={failed > accepted * HARMFUL ? 'bad strong' : ''}
                href={messagesUrl(visit, { status: 'failed', template: template_id, since: '7' })}
              >
                {share(failed, accepted)}
              </a>
            ),
          },
        ]}
      />
    </Card>
  )
}
