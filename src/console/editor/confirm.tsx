// Before a change of placeholders is saved: who sends without the new ones.
import type { ComponentChildren } from 'preact'
import type { ScheduledJob } from '../../bulk/sql/read.ts'
import { DAYS, type KeyUser, type TemplateUse } from '../../bulk/template-use.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Callout, Card, PageHead, Time } from '../components/basics.tsx'
import { Form } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { plural, rich, t } from '../words/index.ts'
import { pathOf } from './page.tsx'

type Changed = { added: string[]; removed: string[] }
type By = 'saving' | 'restoring'
type Row = ({ kind: 'key' } & KeyUser) | ({ kind: 'job' } & ScheduledJob)

export function confirmPage(
  visit: ServiceVisit,
  template: TemplateRow,
  draftId: string,
  changed: Changed,
  use: TemplateUse,
): Answer {
  const path = pathOf(visit, template)
  const broken = use.keys.filter(({ lacks }) => lacks.length > 0)
  const title = broken.length > 0 ? t`This change breaks sends` : t`Check this change of placeholders`
  return {
    kind: 'page',
    title: `${title} – ${template.name}`,
    nav: 'templates',
    width: 'narrow',
    body: (
      <>
        <PageHead
          title={title}
          crumbs={[
            [t`Templates`, `/s/${visit.service.id}/templates`],
            [template.name, path],
          ]}
        />
        <Affected visit={visit} changed={changed} use={use} by="saving" />
        <Form action={`${path}/confirm`}>
          <input type="hidden" name="draft" value={draftId} />
          <p>{rich`Messages and jobs that were accepted before keep their version, scheduled ones too. Only later requests use version ${template.version + 1}.`}</p>
          <div class="row">
            <a class="btn" href={visit.url(`${path}?draft=${draftId}`)}>{t`Back to editing`}</a>
            <button class="btn btn-primary">{rich`Save as version ${template.version + 1}`}</button>
          </div>
        </Form>
      </>
    ),
  }
}

/** Who used the template, and which keys the change breaks. `by`: what makes the new version. */
export function Affected({
  visit,
  changed,
  use,
  by,
}: {
  visit: ServiceVisit
  changed: Changed
  use: TemplateUse
  by: By
}) {
  const broken = use.keys.filter(({ lacks }) => lacks.length > 0)
  const rows: Row[] = [
    ...use.keys.map(key => ({ kind: 'key' as const, ...key })),
    ...use.jobs.map(job => ({ kind: 'job' as const, ...job })),
  ]
  return (
    <>
      <Warning changed={changed} broken={broken} by={by} />
      <Card title={t`Who used this template in the last ${DAYS} days`} body={false}>
        <Table
          caption={t`Keys that sent with this template, and jobs that wait`}
          rows={rows}
          columns={[
            {
              head: t`Key or job`,
              cell: row => (
                <>
                  <b>
                    <bdi>{row.name}</bdi>
                  </b>
                  <span class="sub">
                    <bdi>{row.kind === 'key' ? sendsOf(row, changed) : keepsOf(visit, row)}</bdi>
                  </span>
                </>
              ),
            },
            {
              head: t`Kind`,
              kind: 'status',
              cell: row => <span class="tag">{row.kind === 'key' ? t`Key` : t`Job`}</span>,
            },
            {
              head: t`Sent, ${DAYS} days`,
              kind: 'num',
              cell: row => (row.kind === 'key' ? visit.formats.number(row.messages) : '–'),
            },
            { head: t`Last`, kind: 'num', cell: row => (row.kind === 'key' ? <Time at={row.last_at} /> : t`Waits`) },
          ]}
        />
      </Card>
      {!use.isComplete && (
        <p class="hint">{t`This template is sent so often that only its latest messages were read. A key that used it before them is not listed.`}</p>
      )}
    </>
  )
}

const quoted = (names: readonly string[]) => names.map(name => t`“${name}”`).join(` ${t`and`} `)

const Names = ({ names, gone }: { names: readonly string[]; gone?: boolean }) => (
  <>
    {names.map((name, at) => (
      <>
        {at > 0 && ', '}
        <mark class={gone ? 'ph ph-gone' : 'ph'}>
          <bdi>{`((${name}))`}</bdi>
        </mark>
      </>
    ))}
  </>
)

function Warning(props: { changed: Changed; broken: readonly KeyUser[]; by: By }) {
  const { changed, broken, by } = props
  const { added, removed } = changed
  const lacking = added.filter(name => broken.some(({ lacks }) => lacks.includes(name)))
  const unused = removed.length > 0 && t`Values for removed placeholders are accepted and not used.`
  if (broken.length === 0)
    return (
      <Callout tone="info" title={t`No key has to change`}>
        <p>
          {whatOf(changed, by)} {added.length > 0 && `${t`Every key already sends a value for it.`} `}
          {unused}
        </p>
      </Callout>
    )
  const isFile = broken.every(({ in_job }) => in_job)
  const refusal = isFile ? 'Missing column headers' : 'Missing personalisation'
  return (
    <Callout
      tone="warn"
      title={plural(
        broken.length,
        t`1 key does not send ${quoted(lacking)} yet`,
        t`${broken.length} keys do not send ${quoted(lacking)} yet`,
      )}
    >
      <p>
        {whatOf(changed, by)}{' '}
        {by === 'saving'
          ? t`Requests without a value for ${quoted(lacking)} are refused with “${refusal}” as soon as you save.`
          : t`Requests without a value for ${quoted(lacking)} are refused with “${refusal}” as soon as you restore it.`}
        {unused && ` ${unused}`}
      </p>
    </Callout>
  )
}

function whatOf({ added, removed }: Changed, by: By): ComponentChildren {
  const [more, less] = [<Names names={added} />, <Names names={removed} gone />]
  if (by === 'saving') {
    if (removed.length === 0) return rich`You added ${more}.`
    return added.length === 0 ? rich`You removed ${less}.` : rich`You added ${more} and removed ${less}.`
  }
  if (removed.length === 0) return rich`Restoring adds ${more}.`
  return added.length === 0 ? rich`Restoring removes ${less}.` : rich`Restoring adds ${more} and removes ${less}.`
}

function sendsOf({ sends, lacks, in_job }: KeyUser, { added }: Changed): string {
  const listed = `${sends.slice(0, 12).join(', ')}${sends.length > 12 ? ' …' : ''}`
  const names = sends.length > 0 ? t`sends ${listed}` : t`sends no values`
  const state =
    added.length === 0 ? '' : lacks.length > 0 ? t`; lacks ${lacks.join(', ')}` : t`; has all that is needed`
  return `${names}${in_job ? t`, from a file` : ''}${state}`
}

const keepsOf = ({ formats }: ServiceVisit, job: ScheduledJob) =>
  t`scheduled for ${formats.full(job.scheduled_for)}, ${formats.number(job.notification_count)} rows; keeps version ${job.template_version}, not touched`
