// Before a change of placeholders is saved: who sends without the new ones.

import type { ScheduledJob } from '../../bulk/sql/read.ts'
import { DAYS, type KeyUser, type TemplateUse } from '../../bulk/template-use.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Callout, Card, PageHead, Time } from '../components/basics.tsx'
import { Form } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
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
  const title = broken.length > 0 ? 'This change breaks sends' : 'Check this change of placeholders'
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
            ['Templates', `/s/${visit.service.id}/templates`],
            [template.name, path],
          ]}
        />
        <Affected visit={visit} changed={changed} use={use} by="saving" />
        <Form action={`${path}/confirm`}>
          <input type="hidden" name="draft" value={draftId} />
          <p>
            Messages and jobs that were accepted before keep their version, scheduled ones too. Only later requests use
            version {template.version + 1}.
          </p>
          <div class="row">
            <a class="btn" href={visit.url(`${path}?draft=${draftId}`)}>
              Back to editing
            </a>
            <button class="btn btn-primary">Save as version {template.version + 1}</button>
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
      <Card title={`Who used this template in the last ${DAYS} days`} body={false}>
        <Table
          caption="Keys that sent with this template, and jobs that wait"
          rows={rows}
          columns={[
            {
              head: 'Key or job',
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
              head: 'Kind',
              kind: 'status',
              cell: row => <span class="tag">{row.kind === 'key' ? 'Key' : 'Job'}</span>,
            },
            {
              head: `Sent, ${DAYS} days`,
              kind: 'num',
              cell: row => (row.kind === 'key' ? visit.formats.number(row.messages) : '–'),
            },
            { head: 'Last', kind: 'num', cell: row => (row.kind === 'key' ? <Time at={row.last_at} /> : 'Waits') },
          ]}
        />
      </Card>
      {!use.isComplete && (
        <p class="hint">
          This template is sent so often that only its latest messages were read. A key that used it before them is not
          listed.
        </p>
      )}
    </>
  )
}

const quoted = (names: readonly string[]) => names.map(name => `“${name}”`).join(' and ')

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
  const what = (
    <>
      {by === 'saving' ? 'You' : 'Restoring'}{' '}
      {added.length > 0 && (
        <>
          {by === 'saving' ? 'added' : 'adds'} <Names names={added} />
        </>
      )}
      {added.length > 0 && removed.length > 0 && ' and '}
      {removed.length > 0 && (
        <>
          {by === 'saving' ? 'removed' : 'removes'} <Names names={removed} gone />
        </>
      )}
      .{' '}
    </>
  )
  if (broken.length === 0)
    return (
      <Callout tone="info" title="No key has to change">
        <p>
          {what}
          {added.length > 0 && 'Every key already sends a value for it. '}
          {removed.length > 0 && 'Values for removed placeholders are accepted and not used.'}
        </p>
      </Callout>
    )
  const isFile = broken.every(({ in_job }) => in_job)
  return (
    <Callout
      tone="warn"
      title={`${broken.length === 1 ? '1 key does' : `${broken.length} keys do`} not send ${quoted(lacking)} yet`}
    >
      <p>
        {what}
        Requests without a value for {quoted(lacking)} are refused with “
        {isFile ? 'Missing column headers' : 'Missing personalisation'}” as soon as you{' '}
        {by === 'saving' ? 'save' : 'restore it'}.
        {removed.length > 0 && ' Values for removed placeholders are accepted and not used.'}
      </p>
    </Callout>
  )
}

function sendsOf({ sends, lacks, in_job }: KeyUser, { added }: Changed): string {
  const names = sends.length > 0 ? `sends ${sends.slice(0, 12).join(', ')}` : 'sends no values'
  const state = added.length === 0 ? '' : lacks.length > 0 ? `; lacks ${lacks.join(', ')}` : '; has all that is needed'
  return `${names}${sends.length > 12 ? ' …' : ''}${in_job ? ', from a file' : ''}${state}`
}

const keepsOf = (visit: ServiceVisit, job: ScheduledJob) =>
  `scheduled for ${visit.formats.full(job.scheduled_for)}, ${visit.formats.number(job.notification_count)} rows; keeps version ${job.template_version}, not touched`
