// One job: how far it is, why messages failed, who made it, and what can be done with it.
import { cancel } from '../../bulk/cancel.ts'
import { jobFile } from '../../bulk/file.ts'
import { refuse } from '../../bulk/refusals.ts'
import { sendAgain } from '../../bulk/send-again.ts'
import { fromMicros } from '../../core/clock.ts'
import { type Id, microsOf, readId } from '../../core/id.ts'
import { Refusal } from '../../core/refusal.ts'
import { retentionDays } from '../../services/service.ts'
import { jobReportAs } from '../../timeline/job-report.ts'
import { type Failures, jobFor, type WholeJob, wholeJob } from '../../timeline/jobs.ts'
import { Callout, Card, Done, Facts, Icon, PageHead, Time } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { Form } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import { Dialog } from '../components/overlays.tsx'
import { messageStatusWords } from '../components/status.tsx'
import { notFound } from '../errors.tsx'
import { listPath } from '../messages/query.ts'
import type { Answer, Handler, PageAnswer, ServiceVisit } from '../page.ts'
import { plural, rich, t } from '../words/index.ts'
import { fromNoun } from '../words/nouns.tsx'
import { ProgressCard } from './progress.tsx'
import { makerWords, Status } from './status.tsx'

export const jobPage: Handler<ServiceVisit> = visit => withJob(visit, job => pageOf(visit, job))

export const cancelJob: Handler<ServiceVisit> = visit =>
  withJob(visit, job =>
    acted(visit, job.id, t`Not cancelled`, async () => {
      const { parts, actor, service } = visit
      await cancel({ sql: parts.db.sql, hints: parts.hints }, actor, service.id, job.id)
      return `/s/${service.id}/jobs/${job.id}?done=cancelled`
    }),
  )

export const againPage: Handler<ServiceVisit> = visit => withJob(visit, job => confirmPage(visit, job))

export const sendJobAgain: Handler<ServiceVisit> = visit =>
  withJob(visit, async job => {
    const { parts, actor, service, form } = visit
    try {
      const id = await sendAgain(parts, actor, service, job, Number(form.get('messages') ?? 0))
      return { kind: 'redirect', to: `/s/${service.id}/jobs/${id}?done=again` }
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind === 'ForbiddenError') throw error
      // The second of two clicks gets what the first has made.
      const [latest] = job.again.repeats
      const isDone = error.messages.join() === refuse.nothingToRepeat().messages.join()
      const made = isDone ? ((await wholeJob(parts, actor, service, job.id)).again.repeats[0] ?? latest) : undefined
      if (made) return { kind: 'redirect', to: `/s/${service.id}/jobs/${made.id}?done=again` }
      return confirmPage(visit, await wholeJob(parts, actor, service, job.id), error.messages)
    }
  })

const fileName = (name: string) => name.replace(/\.(csv|tsv|txt|xlsx|ods)$/i, '')

export const reportFile: Handler<ServiceVisit> = visit =>
  withShown(visit, async id => {
    const { parts, actor, service } = visit
    const job = await jobFor(parts, actor, service, id)
    const chunks = jobReportAs(parts, actor, service, job)
    return { kind: 'export', name: `${fileName(job.name)} report.csv`, chunks }
  })

export const originalFile: Handler<ServiceVisit> = visit =>
  withShown(visit, async id => {
    const { parts, actor, service } = visit
    const job = await jobFor(parts, actor, service, id)
    const chunks = jobFile(parts, actor, service, job)
    return { kind: 'export', name: `${fileName(job.name)}.csv`, chunks }
  })

async function withShown(visit: ServiceVisit, work: (id: Id) => Promise<Answer>): Promise<Answer> {
  const id = readId(visit.params.id)
  return id === null ? notFound(visit.service) : work(id)
}

const withJob = (visit: ServiceVisit, work: (job: WholeJob) => Answer | Promise<Answer>): Promise<Answer> =>
  withShown(visit, async id => work(await wholeJob(visit.parts, visit.actor, visit.service, id)))

/** A verb that says no is answered with the page and its sentence. */
async function acted(visit: ServiceVisit, id: Id, title: string, work: () => Promise<string>): Promise<Answer> {
  try {
    return { kind: 'redirect', to: await work() }
  } catch (error) {
    if (!(error instanceof Refusal) || error.kind === 'ForbiddenError') throw error
    const job = await wholeJob(visit.parts, visit.actor, visit.service, id)
    return pageOf(visit, job, { title, sentences: error.messages })
  }
}

type Refused = { title: string; sentences: readonly string[] }

function pageOf(visit: ServiceVisit, job: WholeJob, refused?: Refused): PageAnswer {
  return {
    kind: 'page',
    title: refused ? t`Error: ${job.name}` : job.name,
    nav: 'jobs',
    ...(refused && { status: 422 }),
    body: <JobBody {...{ visit, job, refused }} />,
  }
}

const sentences = () => ({
  cancelled: t`The job is cancelled. Nothing was sent.`,
  again: t`These messages are sent again. They leave as soon as it is their turn.`,
  sent: t`The job is accepted. Its messages leave as soon as it is their turn.`,
  scheduled: t`The job is accepted and waits for its time.`,
})

function JobBody({ visit, job, refused }: { visit: ServiceVisit; job: WholeJob; refused: Refused | undefined }) {
  const { service, url, query } = visit
  const template = (
    <a href={url(`/s/${service.id}/templates/${job.template_id}`)}>
      <bdi>{job.template_name}</bdi>
    </a>
  )
  const by = <bdi>{makerWords(job.maker)}</bdi>
  return (
    <>
      <PageHead
        title={<bdi>{job.name}</bdi>}
        crumbs={[[t`Jobs`, `/s/${service.id}/jobs`]]}
        lede={
          <>
            {rich`${template}, version ${job.template_version}. Made by ${by}, ${<Time at={job.created_at} />}.`}{' '}
            <Status status={job.progress.status} />
          </>
        }
      >
        <Actions {...{ visit, job }} />
      </PageHead>
      <Done done={query.get('done')} sentences={sentences()} />
      {refused && <RefusedCallout {...refused} />}
      <Notes {...{ visit, job }} />
      <ProgressCard {...{ visit, job }} />
      <div class="cols-main">
        <FailuresCard {...{ visit, job }} />
        <div class="stack">
          <Details {...{ visit, job }} />
        </div>
      </div>
      <AsCurl path={`/v2/notifications/bulk/${job.id}`} />
    </>
  )
}

const RefusedCallout = ({ title, sentences }: Refused) => (
  <Callout tone="bad" role="alert" title={title}>
    {sentences.map(sentence => (
      <p key={sentence} dir="auto">
        {fromNoun(sentence.endsWith('.') ? sentence : `${sentence}.`)}
      </p>
    ))}
  </Callout>
)

function Actions({ visit, job }: { visit: ServiceVisit; job: WholeJob }) {
  const { service, url, formats } = visit
  const path = `/s/${service.id}/jobs/${job.id}`
  return (
    <>
      {job.isKept && (
        <a class="btn" href={url(`${path}/report`)}>
          <Icon name="download" />
          {t`Download the report`}
        </a>
      )}
      {job.progress.status === 'scheduled' && visit.may('cancel-messages') && (
        <>
          <button class="btn btn-danger" type="button" popovertarget="cancel">
            {t`Cancel this job`}
          </button>
          <Dialog id="cancel" title={t`Cancel this job?`}>
            <p>
              {plural(
                job.notification_count,
                t`${formats.number(job.notification_count)} message is not sent. The job cannot be scheduled again, but you can download its file now and upload it later.`,
                t`${formats.number(job.notification_count)} messages are not sent. The job cannot be scheduled again, but you can download its file now and upload it later.`,
              )}
            </p>
            <Form action={`${path}/cancel`} class="row">
              <button class="btn" type="button" popovertarget="cancel" popovertargetaction="hide" autofocus>
                {t`Keep it`}
              </button>
              <button class="btn btn-danger" type="submit">
                {t`Cancel the job`}
              </button>
            </Form>
          </Dialog>
        </>
      )}
    </>
  )
}

/** What this job has to do with others, and what is special about it. */
function Notes({ visit, job }: { visit: ServiceVisit; job: WholeJob }) {
  const { service, url, formats } = visit
  const link = ({ id, name }: { id: Id; name: string }) => (
    <a href={url(`/s/${service.id}/jobs/${id}`)}>
      <bdi>{name}</bdi>
    </a>
  )
  return (
    <>
      {job.progress.status === 'error' && (
        <Callout tone="bad" title={t`A part of this job cannot be sent`}>
          <p>{t`Herald tries it again every half hour. Ask an operator to look at the log, which names the job.`}</p>
        </Callout>
      )}
      {job.original && (
        <Callout tone="info">
          <p>{rich`It repeats rows of ${link(job.original)} that failed temporarily.`}</p>
        </Callout>
      )}
      {job.again.repeats.length > 0 && (
        <Callout tone="info">
          {job.again.repeats.map(one => (
            <p key={one.id}>
              {plural(
                one.notification_count,
                rich`${formats.number(one.notification_count)} message was sent again on ${formats.day(fromMicros(microsOf(one.id)))}: ${link(one)}`,
                rich`${formats.number(one.notification_count)} messages were sent again on ${formats.day(fromMicros(microsOf(one.id)))}: ${link(one)}`,
              )}
            </p>
          ))}
        </Callout>
      )}
    </>
  )
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function FailuresCard({ visit, job }: { visit: ServiceVisit; job: WholeJob }) {
  const { service, url, formats } = visit
  const { failures, again, channel, progress } = job
  const canRepeat = again.messages > 0 && visit.may('send-messages') && job.currentVersion !== null
  if (failures.length === 0)
    return (
      <Card title={t`Failed`} id="failed">
        <p class="muted">
          {progress.failed > 0
            ? t`The messages are not kept any more, so nobody can say why they failed.`
            : progress.handedOver > 0
              ? progress.isOver
                ? t`No message has failed.`
                : t`No message had failed when this page was loaded.`
              : t`Nothing was handed over when this page was loaded.`}
        </p>
      </Card>
    )
  return (
    <Card
      title={t`Failed`}
      id="failed"
      body={false}
      aside={
        canRepeat && (
          <a class="btn btn-sm" href={url(`/s/${service.id}/jobs/${job.id}/again`)}>
            <Icon name="repeat" />
            {plural(
              again.messages,
              t`Send ${formats.number(again.messages)} message again`,
              t`Send ${formats.number(again.messages)} messages again`,
            )}
          </a>
        )
      }
      foot={canRepeat ? t`“Send again” takes only those that may succeed, and none twice.` : undefined}
    >
      <Table
        caption={t`Failures by reason`}
        rows={failures}
        columns={[
          {
            head: t`Reason`,
            cell: ({ status, meaning }: Failures) => (
              <>
                <a class="title" href={url(listPath(service.id, { job: job.id, status }))}>
                  {messageStatusWords(status, channel)}
                </a>
                {meaning && <span class="sub">{fromNoun(meaning.is)}</span>}
              </>
            ),
          },
          { head: t`Messages`, kind: 'num', cell: ({ messages }: Failures) => formats.number(messages) },
          {
            head: t`What to do`,
            cell: ({ meaning }: Failures) =>
              meaning ? <>{fromNoun(capital(meaning.advice))}.</> : t`Open one of them to see what happened.`,
          },
        ]}
      />
    </Card>
  )
}

function Details({ visit, job }: { visit: ServiceVisit; job: WholeJob }) {
  const { service, url, formats } = visit
  const path = `/s/${service.id}/jobs/${job.id}`
  const due = job.scheduled_for === null ? microsOf(job.id) : Date.parse(job.scheduled_for) * 1000
  const until = fromMicros(due + retentionDays(service, job.channel) * 86_400_000_000)
  return (
    <Card title={t`Details`} id="details">
      <Facts
        top
        rows={[
          [t`Rows`, formats.number(job.notification_count)],
          [t`Messages`, <a href={url(listPath(service.id, { job: job.id }))}>{t`Show the messages of this job`}</a>],
          job.scheduled_for !== null && [t`Scheduled for`, formats.full(job.scheduled_for)],
          job.processing_started !== null && [t`Started`, formats.full(job.processing_started)],
          [t`Made by`, <bdi>{makerWords(job.maker)}</bdi>],
          [t`Id`, <span class="id">{job.id}</span>],
          job.isKept &&
            visit.may('export-recipients') && [
              t`File`,
              <>
                <a href={url(`${path}/file`)}>{t`Download the rows as CSV`}</a>
                <div class="hint">{t`Columns that the template does not use are not kept.`}</div>
              </>,
            ],
          job.isKept && [t`Messages are kept until`, formats.date(until)],
        ]}
      />
    </Card>
  )
}

/** Before anything leaves: how many, by which version, and what it counts against. */
function confirmPage(visit: ServiceVisit, job: WholeJob, problems: readonly string[] = []): PageAnswer {
  const { service, url, formats } = visit
  const { messages } = job.again
  const path = `/s/${service.id}/jobs/${job.id}`
  const number = formats.number(messages)
  const title = plural(messages, t`Send ${number} message again?`, t`Send ${number} messages again?`)
  return {
    kind: 'page',
    title: problems.length > 0 ? t`Error: ${title}` : title,
    nav: 'jobs',
    width: 'narrow',
    ...(problems.length > 0 && { status: 422 }),
    body: (
      <>
        <PageHead
          title={title}
          crumbs={[
            [t`Jobs`, `/s/${service.id}/jobs`],
            [job.name, path],
          ]}
        />
        {problems.length > 0 && <RefusedCallout title={t`Nothing was sent`} sentences={problems} />}
        <Card>
          <div class="stack">
            {messages === 0 ? (
              <p>{t`No message of this job failed temporarily, or all of them were sent again.`}</p>
            ) : (
              <>
                <p>
                  {t`They failed temporarily: a full mailbox, a phone that was off, or no receipt within 72 hours. Some of the last kind may have arrived.`}
                </p>
                <p>
                  {job.currentVersion === job.template_version
                    ? t`Each recipient gets a new message with the same values now. They count as messages of today.`
                    : t`Each recipient gets a new message with the same values now, by version ${job.currentVersion ?? '–'} of the template instead of ${job.template_version}. They count as messages of today.`}
                </p>
                {job.key_type === 'test' && (
                  <p>{t`The job was made with a test key, so they are simulated again: nothing is sent.`}</p>
                )}
              </>
            )}
            <Form action={`${path}/again`} class="row">
              <input type="hidden" name="messages" value={messages} />
              <a class="btn" href={url(path)}>
                {t`Do not send`}
              </a>
              {messages > 0 && (
                <button class="btn btn-primary" type="submit">
                  {plural(messages, t`Send ${number} message again`, t`Send ${number} messages again`)}
                </button>
              )}
            </Form>
          </div>
        </Card>
      </>
    ),
  }
}
