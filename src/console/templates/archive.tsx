// Archiving cannot be undone, so the page first says what uses the template.

import { scheduledWith } from '../../bulk/sql/read.ts'
import { floorOf } from '../../core/id.ts'
import { statusesOf } from '../../notifications/status.ts'
import { sentByTemplate } from '../../statistics/templates.ts'
import { archive } from '../../templates/archive.ts'
import { refuse } from '../../templates/refusals.ts'
import { Callout, Time } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { Form } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { plural, rich, t } from '../words/index.ts'
import { templateIn } from './given.ts'
import { TemplateHead } from './head.tsx'
import { templatePath, templatesPath } from './paths.ts'

const DAY_MICROS = 86_400_000_000
/** A job waits at most four days for its time. */
const LONGEST_WAIT_DAYS = 5

export async function confirmArchive(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, formats, url } = visit
  const { sql } = parts.db
  const { template, folders } = await templateIn(visit)
  if (template.archived) return { kind: 'redirect', to: templatePath(service.id, template.id, '/settings') }
  const [jobs, counts] = await Promise.all([
    scheduledWith(sql, service.id, template.id, floorOf(parts.clock.micros() - LONGEST_WAIT_DAYS * DAY_MICROS)),
    sentByTemplate({ ...parts, sql }, actor, service.id, [template.id], statusesOf(['failed'])),
  ])
  const sent = counts.get(template.id)?.accepted ?? 0
  return {
    kind: 'page',
    title: t`Archive ${template.name}`,
    nav: 'templates',
    width: 'narrow',
    body: (
      <>
        <TemplateHead template={template} folders={folders} current="settings" />
        <h2>{t`Archive the template?`}</h2>
        {sent > 0 ? (
          <Callout tone="warn" title={t`It is in use`}>
            <p>
              {plural(
                sent,
                t`${formats.number(sent)} message was accepted with it in the last seven days. Applications that go on sending it will be refused: “Template has been deleted”.`,
                t`${formats.number(sent)} messages were accepted with it in the last seven days. Applications that go on sending it will be refused: “Template has been deleted”.`,
              )}
            </p>
          </Callout>
        ) : (
          <Callout tone="info">
            <p>{t`No message was accepted with it in the last seven days.`}</p>
          </Callout>
        )}
        <p>
          {rich`Nothing can be sent with it afterwards. Messages and jobs that were accepted are still sent, and its versions stay readable. ${<strong>{t`It cannot be undone.`}</strong>}`}
        </p>
        {jobs.length > 0 && (
          <div class="card">
            <Table
              caption={t`Scheduled jobs that use it`}
              rows={jobs}
              columns={[
                {
                  head: t`Scheduled job`,
                  cell: job => <bdi>{job.name}</bdi>,
                },
                { head: t`Messages`, kind: 'num', cell: job => formats.number(job.notification_count) },
                { head: t`Leaves`, kind: 'num', cell: job => <Time at={job.scheduled_for} /> },
              ]}
            />
          </div>
        )}
        <Form class="row">
          <a class="btn" href={url(templatePath(service.id, template.id, '/settings'))}>{t`Keep it`}</a>
          <button class="btn btn-danger" type="submit">{t`Archive the template`}</button>
        </Form>
        <AsCurl method="DELETE" path={`/v2/manage-template/${template.id}`} />
      </>
    ),
  }
}

export async function archiveTemplate(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service } = visit
  const { template } = await templateIn(visit)
  // Sent twice: it is archived, which is what was wanted.
  if (!template.archived)
    await archive({ ...parts, sql: parts.db.sql }, actor, service.id, template.id).catch(error => {
      if (error.message !== refuse.alreadyArchived().message) throw error
    })
  return { kind: 'redirect', to: templatesPath(service.id, { done: 'archived' }) }
}
