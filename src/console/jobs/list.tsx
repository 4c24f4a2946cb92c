// The list of jobs: newest first, with filters; how far each is.
import { SHOWN_STATUSES, type ShownStatus } from '../../bulk/sql/browse.ts'
import { fromMicros } from '../../core/clock.ts'
import { type Id, microsOf, readId } from '../../core/id.ts'
import { startsOfDays } from '../../statistics/days.ts'
import { messageChoices } from '../../timeline/choices.ts'
import { type Ending, endingSince } from '../../timeline/endings.ts'
import { browseJobs, type JobFilters, type JobsPage, type ListedJob } from '../../timeline/jobs.ts'
import { Empty, Icon, PageHead, Time } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { CapturedNote, ENDED, ENDINGS, endingOr } from '../components/captured.tsx'
import { type Column, FilterSelect, Filters, Pager, Table, Title } from '../components/list.tsx'
import { Bar } from '../components/numbers.tsx'
import type { Handler, ServiceVisit } from '../page.ts'
import { plural, t } from '../words/index.ts'
import { makerWords, Status, statusWords } from './status.tsx'

type Given = { status: ShownStatus | null; template: Id | null; since: string | null }
type Choices = Awaited<ReturnType<typeof messageChoices>>

const DAYS = ['1', '7', '30', '90']

export const jobsPage: Handler<ServiceVisit> = async visit => {
  const { parts, actor, service, query } = visit
  const given = givenIn(query)
  const [older, newer] = [readId(query.get('before')), readId(query.get('after'))]
  const from = older !== null ? { older } : newer !== null ? { newer } : null
  const [page, choices] = await Promise.all([
    browseJobs(parts, actor, service, filtersOf(given, visit), from),
    messageChoices(parts, actor, service.id, given.template === null ? {} : { template: given.template }),
  ])
  const oldest = page.jobs.at(-1)
  const ending = oldest ? await endingSince({ sql: parts.db.sql }, actor, service.id, microsOf(oldest.id)) : null
  return { kind: 'page', title: t`Jobs`, nav: 'jobs', body: <Jobs {...{ visit, given, page, choices, ending }} /> }
}

function givenIn(query: URLSearchParams): Given {
  const [status, since] = [query.get('status'), query.get('since')]
  return {
    status: SHOWN_STATUSES.find(one => one === status) ?? null,
    template: readId(query.get('template')),
    since: DAYS.find(one => one === since) ?? null,
  }
}

function filtersOf({ status, template, since }: Given, { parts, formats }: ServiceVisit): JobFilters {
  const [first = 0] = since === null ? [] : startsOfDays(parts.clock.now(), formats.timeZone, Number(since))
  return { status, template, since: since === null ? null : first * 3_600_000_000 }
}

const listPath = (service: Id, given: Given, more: Record<string, string> = {}) => {
  const pairs = [...Object.entries(given), ...Object.entries(more)]
  const query = new URLSearchParams(pairs.flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
  return `/s/${service}/jobs${query.size === 0 ? '' : `?${query}`}`
}

type Shown = { visit: ServiceVisit; given: Given; page: JobsPage; choices: Choices; ending: Ending | null }

function Jobs({ visit, given, page, choices, ending }: Shown) {
  const { service, url, formats } = visit
  const { jobs, older, newer } = page
  const isFiltered = Object.values(given).some(one => one !== null)
  return (
    <>
      <PageHead title={t`Jobs`} lede={t`Files that were uploaded, and bulk requests of programs.`}>
        {visit.may('send-messages') && (
          <a class="btn btn-primary" href={url(`/s/${service.id}/send/file`)}>
            <Icon name="upload" />
            {t`Upload a file`}
          </a>
        )}
      </PageHead>
      {jobs.length > 0 && <CapturedNote visit={visit} />}
      {(jobs.length > 0 || isFiltered) && <JobFilterForm {...{ visit, given, choices }} />}
      <section class="card">
        {jobs.length > 0 ? (
          <>
            <Table caption={t`Jobs`} columns={columnsFor(visit, ending)} rows={jobs} keyOf={job => job.id} />
            <Pager
              newer={newer && url(listPath(service.id, given, { after: newer }))}
              older={older && url(listPath(service.id, given, { before: older }))}
            >
              {t`${plural(jobs.length, t`${jobs.length} job`, t`${jobs.length} jobs`)} at ${formats.brief(fromMicros(visit.parts.clock.micros()))}`}
            </Pager>
          </>
        ) : (
          <NoJobs {...{ visit, given, page, isFiltered }} />
        )}
      </section>
      <AsCurl path="/v2/notifications/bulk" />
    </>
  )
}

function JobFilterForm({ visit, given, choices }: Omit<Shown, 'page' | 'ending'>) {
  const since = (days: string) => {
    const count = Number(days)
    return count === 1 ? t`Today` : plural(count, t`${days} day`, t`${days} days`)
  }
  return (
    <Filters label={t`Jobs`} action={`/s/${visit.service.id}/jobs`}>
      <FilterSelect
        label={t`Status`}
        name="status"
        options={[['', t`Any`], ...SHOWN_STATUSES.map(one => [one, statusWords(one)] as const)]}
        value={given.status}
      />
      {choices.templates.length > 0 && (
        <FilterSelect
          label={t`Template`}
          name="template"
          options={[['', t`Any`], ...choices.templates.map(one => [one.id, one.name] as const)]}
          value={given.template}
        />
      )}
      <FilterSelect
        label={t`Since`}
        name="since"
        options={[['', t`Ever`], ...DAYS.map(days => [days, since(days)] as const)]}
        value={given.since}
      />
    </Filters>
  )
}

function columnsFor(visit: ServiceVisit, ending: Ending | null): Column<ListedJob>[] {
  const { service, url, formats } = visit
  return [
    {
      head: t`Job`,
      cell: ({ id, name, template_name, again_of }) => (
        <Title
          href={url(`/s/${service.id}/jobs/${id}`)}
          sub={again_of === null ? template_name : t`${template_name}, sent again`}
        >
          {name}
        </Title>
      ),
    },
    { head: t`Status`, kind: 'status', cell: ({ progress }) => <Status status={progress.status} /> },
    {
      head: t`Progress`,
      cell: job => (
        <Progress
          visit={visit}
          job={job}
          ending={job.key_type === 'test' ? 'simulated' : endingOr(visit, ending, [job.channel])}
        />
      ),
    },
    { head: t`Made by`, class: 'hide-mid', cell: ({ maker }) => <bdi>{makerWords(maker)}</bdi> },
    { head: t`Messages`, kind: 'num', cell: job => formats.number(job.notification_count) },
    {
      head: t`Failed`,
      kind: 'num',
      cell: ({ progress }) => (progress.handedOver === 0 ? '–' : formats.number(progress.failed)),
    },
    { head: t`When`, kind: 'num', cell: job => <Time at={job.scheduled_for ?? job.created_at} /> },
  ]
}

function Progress({ visit, job, ending }: { visit: ServiceVisit; job: ListedJob; ending: Ending }) {
  const { formats } = visit
  const { progress, scheduled_for } = job
  const { status, whole, delivered, inTransit, failed } = progress
  if (status === 'scheduled' && scheduled_for !== null)
    return <>{t`Starts ${formats.day(scheduled_for)} at ${formats.clock(scheduled_for)}`}</>
  if (progress.handedOver === 0)
    return <>{status === 'cancelled' || status === 'over-limit' ? t`Nothing was sent` : t`Nothing handed over yet`}</>
  const share = (part: number) => formats.share(part, whole)
  return (
    <Bar
      label={[ENDED[ending](share(delivered)), t`${share(inTransit)} in transit`, t`${share(failed)} failed`].join(
        ', ',
      )}
      whole={whole}
      parts={[
        { tone: ENDINGS[ending][0], value: delivered },
        { tone: 'info', value: inTransit },
        { tone: 'bad', value: failed },
      ]}
    />
  )
}

function NoJobs({ visit, given, page, isFiltered }: Omit<Shown, 'choices' | 'ending'> & { isFiltered: boolean }) {
  const { service, url } = visit
  if (page.older !== null || page.newer !== null)
    return (
      <Empty
        icon="search"
        level={2}
        title={page.isPartial ? t`Nothing found so far` : t`No more jobs`}
        text={
          page.isPartial
            ? t`There are many jobs to look through. Go on looking for older ones, or remove a filter.`
            : t`There are none beyond this page.`
        }
      >
        {page.newer && (
          <a class="btn" rel="prev" href={url(listPath(service.id, given, { after: page.newer }))}>
            {t`Newer`}
          </a>
        )}
        {page.older && (
          <a class="btn" rel="next" href={url(listPath(service.id, given, { before: page.older }))}>
            {page.isPartial ? t`Look further` : t`Older`}
          </a>
        )}
      </Empty>
    )
  if (isFiltered)
    return (
      <Empty icon="search" level={2} title={t`No job matches`} text={t`No job matches all of these filters.`}>
        <a class="btn" href={url(`/s/${service.id}/jobs`)}>
          {t`Remove all filters`}
        </a>
      </Empty>
    )
  return (
    <Empty
      icon="job"
      level={2}
      title={t`No jobs yet`}
      text={t`A job sends one template to everybody in a file. It appears here with how far it is and what failed.`}
    >
      {visit.may('send-messages') && (
        <a class="btn" href={url(`/s/${service.id}/send/file`)}>
          {t`Upload a file`}
        </a>
      )}
    </Empty>
  )
}
