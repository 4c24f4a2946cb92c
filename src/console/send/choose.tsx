// Choose the template of what is sent: by words, by folder, page by page.
import type { Channel } from '../../channels/index.ts'
import { readId } from '../../core/id.ts'
import { maySend } from '../../services/service.ts'
import { browse } from '../../templates/browse.ts'
import { flat, type PlacedFolder, pathText } from '../../templates/folder.ts'
import { folderTree } from '../../templates/folders.ts'
import type { From, ListedTemplate } from '../../templates/sql/list.ts'
import { Callout, Empty, Icon, PageHead, Tabs } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { type Column, FilterSelect, Filters, SearchField, Table, Title } from '../components/list.tsx'
import type { PageAnswer, ServiceVisit } from '../page.ts'
import { templatesPath } from '../templates/paths.ts'
import { mark, plural, rich, say, t } from '../words/index.ts'
import { sendPath, type To } from './paths.ts'

const LONGEST_SEARCH = 200

export async function choosePage(visit: ServiceVisit, to: To): Promise<PageAnswer> {
  const { parts, service, query, url, formats } = visit
  const { sql } = parts.db
  const q = (query.get('q') ?? '').trim().slice(0, LONGEST_SEARCH)
  const tree = await folderTree(sql, service.id)
  const folders = flat(tree)
  const folder = folders.find(({ id }) => id === readId(query.get('folder'))) ?? null
  const wanted = {
    ...(q && { words: q }),
    ...(folder && { folders: flat([folder]).map(({ id }) => id) }),
  }
  const page = await browse(sql, service.id, wanted, fromIn(query))
  const keep = { q, folder: folder?.id }
  const [first, last] = [page.templates[0], page.templates.at(-1)]
  return {
    kind: 'page',
    title: t`Send`,
    nav: 'send',
    body: (
      <>
        <PageHead title={t`Send`} lede={t`Choose the template. Nothing is sent before you confirm it.`} />
        <ToTabs visit={visit} to={to} />
        <ModeNotice visit={visit} />
        <div class="card">
          <Filters label={t`Templates`} action={sendPath(service.id, to)} class="card-body">
            <div class="search">
              <SearchField name="q" label={t`Name or words of a template`} value={q} />
            </div>
            {folders.length > 0 && (
              <FilterSelect
                label={t`Folder`}
                name="folder"
                value={folder?.id ?? null}
                options={[['', t`All folders`], ...folders.map(one => [one.id, pathText(one)] as const)]}
              />
            )}
          </Filters>
          {page.templates.length > 0 ? (
            <Table
              caption={t`Templates to send`}
              columns={columnsFor(visit, to, folders)}
              rows={page.templates}
              keyOf={({ id }) => id}
              data-rows=""
            />
          ) : (
            <Nothing visit={visit} to={to} isFiltered={q !== '' || folder !== null} />
          )}
          {(page.hasEarlier || page.hasLater) && first && last && (
            <nav class="pager" aria-label={t`Pages`}>
              <span>
                {plural(
                  page.found,
                  t`${formats.number(page.found)} template by name`,
                  t`${formats.number(page.found)} templates by name`,
                )}
              </span>
              <span class="row">
                {page.hasEarlier && (
                  <a
                    class="btn btn-sm"
                    rel="prev"
                    href={url(sendPath(service.id, to, { ...keep, before: first.id }))}
                  >{t`Previous`}</a>
                )}
                {page.hasLater && (
                  <a
                    class="btn btn-sm"
                    rel="next"
                    href={url(sendPath(service.id, to, { ...keep, after: last.id }))}
                  >{t`Next`}</a>
                )}
              </span>
            </nav>
          )}
        </div>
        <AsCurl path="/v2/templates" />
      </>
    ),
  }
}

function fromIn(query: URLSearchParams): From {
  const [after, before] = [readId(query.get('after')), readId(query.get('before'))]
  return after ? { after } : before ? { before } : null
}

/** One message or a file; `template` stays chosen. */
export const ToTabs = ({ visit, to, template }: { visit: ServiceVisit; to: To; template?: string }) => (
  <Tabs
    label={t`To one or to many`}
    tabs={(['one', 'file'] as const).map(one => ({
      words: one === 'one' ? t`One message` : t`A file of recipients`,
      href: visit.url(sendPath(visit.service.id, one, { template })),
      current: one === to,
    }))}
  />
)

/** What keeps the service from sending, or limits to whom. `channel`: of the template that is chosen. */
export function ModeNotice({ visit, channel }: { visit: ServiceVisit; channel?: Channel }) {
  const { service } = visit
  if (service.state !== 'active')
    return (
      <Callout tone="bad" title={t`This service cannot send`}>
        <p>
          {service.suspended_reason === null
            ? t`It is suspended. An operator of this installation can say why.`
            : t`It is suspended until an operator of this installation resumes it.`}
        </p>
      </Callout>
    )
  if (channel && !maySend(service, channel))
    return (
      <Callout tone="bad" title={t`This service cannot send`}>
        <p>
          {channel === 'email' ? t`It is not allowed to send e-mails.` : t`It is not allowed to send text messages.`}{' '}
          {t`An operator of this installation can allow it.`}
        </p>
      </Callout>
    )
  if (service.mode === 'trial')
    return (
      <Callout tone="warn" title={t`This service is in trial mode`}>
        <p>{t`Only people of its team and recipients of its safelist get messages. Others are refused.`}</p>
      </Callout>
    )
  return null
}

const KINDS = {
  email: ['email', mark('E-mail')],
  sms: ['text', mark('Text message')],
} as const

function columnsFor(
  { url, service, formats }: ServiceVisit,
  to: To,
  folders: readonly PlacedFolder[],
): Column<ListedTemplate>[] {
  const places = new Map(folders.map(folder => [folder.id, pathText(folder)]))
  return [
    {
      head: t`Template`,
      cell: row => (
        <Title
          href={url(sendPath(service.id, to, { template: row.id }))}
          sub={[row.category_name, row.folder_id && places.get(row.folder_id)].filter(Boolean).join(' · ')}
        >
          {row.name.trim() || t`Without a name`}
        </Title>
      ),
    },
    {
      head: t`Kind`,
      cell: row => (
        <>
          <Icon name={KINDS[row.type][0]} /> {say(KINDS[row.type][1])}
        </>
      ),
    },
    { head: t`Version`, kind: 'num', class: 'hide-phone', cell: row => formats.number(row.version) },
  ]
}

function Nothing({ visit, to, isFiltered }: { visit: ServiceVisit; to: To; isFiltered: boolean }) {
  const { url, service } = visit
  if (isFiltered)
    return (
      <Empty
        icon="search"
        title={t`Nothing matches`}
        level={2}
        text={t`Search looks for exactly these words, in any case of letters.`}
      >
        <a class="btn" href={url(sendPath(service.id, to))}>{t`Show all templates`}</a>
      </Empty>
    )
  return (
    <Empty
      icon="template"
      title={t`No template yet`}
      level={2}
      text={rich`A message is made from a template. ${t`Authors and managers create templates.`}`}
    >
      {visit.may('manage-templates') && (
        <a class="btn btn-primary" href={url(templatesPath(service.id))}>{t`Write a template`}</a>
      )}
    </Empty>
  )
}
