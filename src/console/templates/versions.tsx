// Versions of a template: what changed between two, one of them alone, and restoring one.
import { templateUse } from '../../bulk/template-use.ts'
import { listUsers } from '../../services/sql.ts'
import { listVersions, wholeVersion } from '../../templates/browse.ts'
import { compareVersions } from '../../templates/compare.ts'
import type { PlacedFolder } from '../../templates/folder.ts'
import { refuse } from '../../templates/refusals.ts'
import { restore } from '../../templates/restore.ts'
import type { ListedVersion } from '../../templates/sql/list.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Callout, Card, Done, Facts, Icon, Time } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { usePage } from '../components/context.ts'
import { Form } from '../components/form.tsx'
import { Pager } from '../components/list.tsx'
import { Affected } from '../editor/confirm.tsx'
import type { Answer, PageAnswer, ServiceVisit } from '../page.ts'
import { mark, rich, say, t } from '../words/index.ts'
import { Differences } from './diff.tsx'
import { isChangedMeanwhile, numberIn, templateIn } from './given.ts'
import { TemplateHead } from './head.tsx'
import { templatePath, withQuery } from './paths.ts'

const DONE = { restored: mark('The old words are in use again, as a new version.') }

const NEVER = mark('A version never changes. Messages remember which one they were made from.')

export async function showVersions(visit: ServiceVisit): Promise<Answer> {
  const { parts, service, query } = visit
  const { sql } = parts.db
  const { template, folders } = await templateIn(visit)
  const to = numberIn(query.get('to')) ?? template.version
  const from = numberIn(query.get('from')) ?? Math.max(1, to - 1)
  const [before, after, listed, authors] = await Promise.all([
    wholeVersion(sql, service.id, template.id, from),
    wholeVersion(sql, service.id, template.id, to),
    listVersions(sql, service.id, template.id, numberIn(query.get('below'))),
    authorsOf(visit),
  ])
  const path = templatePath(service.id, template.id, '/versions')
  const last = listed.versions.at(-1)
  return {
    kind: 'page',
    title: t`Versions of ${template.name}`,
    nav: 'templates',
    body: (
      <>
        <TemplateHead template={template} folders={folders} current="versions" lede={say(NEVER)} />
        <Done done={query.get('done')} sentences={DONE} />
        <div class="cols-main">
          <section class="stack" aria-labelledby="diff">
            <h2 id="diff">{t`What changed`}</h2>
            {template.version === 1 ? (
              <p>{t`This is the first version. When somebody saves a change, it is shown here.`}</p>
            ) : (
              <>
                <Compare path={path} from={from} to={to} newest={template.version} />
                <Differences
                  comparison={compareVersions(before, after)}
                  before={t`version ${from}`}
                  after={t`version ${to}`}
                />
              </>
            )}
          </section>
          <Card
            title={t`Versions`}
            id="list"
            body={false}
            foot={visit.may('manage-templates') && t`Restoring makes a new version with the old words.`}
          >
            <VersionTable visit={visit} template={template} versions={listed.versions} authors={authors} shown={to} />
            {(listed.hasOlder || query.has('below')) && (
              <Pager
                newer={query.has('below') ? visit.url(path) : null}
                older={listed.hasOlder && last ? visit.url(withQuery(path, { below: String(last.version) })) : null}
              />
            )}
          </Card>
        </div>
        <AsCurl path={`/v2/template/${template.id}/version/${to}`} />
      </>
    ),
  }
}

const NEAREST = 100

/** The newest hundred are offered; others are reached by their links. */
function Compare({ path, from, to, newest }: { path: string; from: number; to: number; newest: number }) {
  const { url } = usePage()
  const offered = (chosen: number) => {
    const recent = Array.from({ length: Math.min(newest, NEAREST) }, (_, at) => newest - at)
    return recent.includes(chosen) ? recent : [...recent, chosen]
  }
  const select = (name: 'from' | 'to', chosen: number) => (
    <>
      <label for={name}>{name === 'from' ? t`from` : t`to`}</label>
      <select class="input" id={name} name={name}>
        {offered(chosen).map(version => (
          <option key={version} value={version} selected={version === chosen}>
            {rich`Version ${version}`}
          </option>
        ))}
      </select>
    </>
  )
  return (
    <form class="row" action={url(path)}>
      <span class="row row-tight sm">
        {select('from', from)}
        {select('to', to)}
        <button class="btn btn-sm" type="submit">{t`Compare`}</button>
      </span>
    </form>
  )
}

function VersionTable(props: {
  visit: ServiceVisit
  template: TemplateRow
  versions: readonly ListedVersion[]
  authors: ReadonlyMap<string, string>
  shown: number
}) {
  const { visit, template, versions, authors, shown } = props
  const link = (version: number) => visit.url(templatePath(visit.service.id, template.id, `/versions/${version}`))
  return (
    <table role="table" class="table">
      <caption class="vh">{t`Versions, newest first`}</caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">{t`Version`}</th>
          <th role="columnheader" scope="col">
            <span class="vh">{t`Actions`}</span>
          </th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {versions.map(({ version, created_by, made_at }) => (
          <tr key={version} role="row" {...(version === shown && { class: 'is-selected' })}>
            <th role="rowheader" scope="row" class="cell-title">
              <strong>{version}</strong> {version === template.version && <InUse template={template} />}
              <span class="sub">
                <Time at={made_at} />, <bdi>{authors.get(created_by.toLowerCase()) ?? created_by}</bdi>
              </span>
            </th>
            <td role="cell" class="cell-status">
              {visit.may('manage-templates') && version !== template.version ? (
                <a class="btn btn-sm" href={link(version)}>
                  {t`Restore`}
                  <span class="vh"> {t`version ${version}`}</span>
                </a>
              ) : (
                <a class="sm" href={link(version)}>
                  {t`View`}
                  <span class="vh"> {t`version ${version}`}</span>
                </a>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const InUse = ({ template }: { template: TemplateRow }) =>
  template.archived ? (
    <span class="badge idle">
      <Icon name="lock" />
      {t`archived`}
    </span>
  ) : (
    <span class="badge good">
      <Icon name="check" />
      {t`in use`}
    </span>
  )

/** Names of team members by their address. */
async function authorsOf({ parts, service }: ServiceVisit): Promise<ReadonlyMap<string, string>> {
  const users = await listUsers(parts.db.sql, service.id)
  return new Map(users.map(({ email_address, name }) => [email_address.toLowerCase(), name]))
}

export async function showVersion(visit: ServiceVisit): Promise<Answer> {
  const { template, folders } = await templateIn(visit)
  return versionPage(visit, template, folders, numberOf(visit))
}

/** Restores the version of the address. */
export async function restoreVersion(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, form } = visit
  const { template, folders } = await templateIn(visit)
  const version = numberOf(visit)
  const expected = numberIn(form.get('version')) ?? 0
  try {
    await restore(parts, actor, service.id, template.id, version, expected)
  } catch (error) {
    if (!isChangedMeanwhile(error)) throw error
    const now = await templateIn(visit)
    return { ...(await versionPage(visit, now.template, folders, version, true)), status: 409 }
  }
  return { kind: 'redirect', to: templatePath(service.id, template.id, '/versions?done=restored') }
}

function numberOf(visit: ServiceVisit): number {
  const version = numberIn(visit.params.version ?? null)
  if (version === null) throw refuse.notFound()
  return version
}

async function versionPage(
  visit: ServiceVisit,
  template: TemplateRow,
  folders: readonly PlacedFolder[],
  version: number,
  isStale = false,
): Promise<PageAnswer> {
  const { parts, service } = visit
  const { sql } = parts.db
  const [old, now, authors] = await Promise.all([
    wholeVersion(sql, service.id, template.id, version),
    wholeVersion(sql, service.id, template.id, template.version),
    authorsOf(visit),
  ])
  const isLatest = version === template.version
  // The treatment of values stays when a version is restored, so it is not shown as a change.
  const comparison = compareVersions(now, { ...old, literal_values: now.literal_values })
  const canRestore = visit.may('manage-templates') && !isLatest
  const changed = comparison.placeholders
  const isOther = changed.added.length + changed.removed.length > 0
  const use = canRestore && isOther ? await templateUse(parts, visit.actor, service.id, template, changed.added) : null
  const isUsed = use !== null && use.keys.length + use.jobs.length > 0
  return {
    kind: 'page',
    title: isStale ? t`Error: ${t`Version ${version} of ${template.name}`}` : t`Version ${version} of ${template.name}`,
    nav: 'templates',
    body: (
      <>
        <TemplateHead
          template={template}
          folders={folders}
          current="versions"
          lede={
            <>
              {rich`Version ${version}, saved ${<Time at={old.made_at} />} by ${<bdi>{authors.get(old.created_by.toLowerCase()) ?? old.created_by}</bdi>}.`}{' '}
              {isLatest ? t`It is the latest.` : t`The latest is version ${template.version}.`}
            </>
          }
        />
        {isStale && (
          <Callout tone="bad" role="alert" title={t`Not restored yet`}>
            <p>{rich`Somebody saved version ${template.version} meanwhile. Look at what would change now, then restore again.`}</p>
          </Callout>
        )}
        <Card title={t`Version ${version}`} id="words">
          <Words version={old} />
        </Card>
        {!isLatest && (
          <section class="stack" aria-labelledby="difference">
            <h2 id="difference">{canRestore ? t`What restoring would change` : t`What is different from now`}</h2>
            <Differences
              comparison={comparison}
              before={t`version ${template.version}`}
              after={t`version ${version}`}
            />
            {isUsed && <Affected visit={visit} changed={changed} use={use} by="restoring" />}
            {canRestore && (
              <Form class="row">
                <input type="hidden" name="version" value={template.version} />
                <button class="btn btn-primary" type="submit">
                  <Icon name="repeat" />
                  {rich`Restore version ${version}`}
                </button>
                <span class="muted sm">{rich`It becomes version ${template.version + 1}. Messages that were accepted keep theirs.`}</span>
              </Form>
            )}
          </section>
        )}
        <p>
          <a href={visit.url(templatePath(service.id, template.id, '/versions'))}>{t`All versions`}</a>
        </p>
        <AsCurl path={`/v2/template/${template.id}/version/${version}`} />
      </>
    ),
  }
}

const Words = ({ version }: { version: Awaited<ReturnType<typeof wholeVersion>> }) => (
  <div class="stack">
    <Facts
      rows={[
        [t`Name`, <bdi key="name">{version.name}</bdi>],
        [t`Category`, <bdi key="category">{version.category_name}</bdi>],
        version.subject !== null && [t`Subject`, <bdi key="subject">{version.subject}</bdi>],
        version.literal_values && [t`Markdown in values`, t`Shown as it is`],
      ]}
    />
    <pre class="code" dir="auto">
      {version.content}
    </pre>
  </div>
)
