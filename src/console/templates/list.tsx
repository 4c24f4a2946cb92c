// Templates by folder, with search over all folders.
import type { ComponentChildren } from 'preact'
import type { Channel } from '../../channels/index.ts'
import { type Id, readId } from '../../core/id.ts'
import { statusesOf } from '../../notifications/status.ts'
import { sentByTemplate } from '../../statistics/templates.ts'
import { browse } from '../../templates/browse.ts'
import { flat, type PlacedFolder, pathText } from '../../templates/folder.ts'
import { folderTree } from '../../templates/folders.ts'
import { refuse } from '../../templates/refusals.ts'
import { type From, type ListedTemplate, totals, type Wanted } from '../../templates/sql/list.ts'
import { categories } from '../../templates/sql.ts'
import { Done, Empty, Hidden, Icon, PageHead, Time } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { usePage } from '../components/context.ts'
import { type Column, FilterSelect, Filters, SearchField, Table, Title } from '../components/list.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { type Marked, mark, plural, rich, say, t } from '../words/index.ts'
import { folderPath, templatePath, templatesPath } from './paths.ts'

const DONE = {
  'folder-created': mark('The folder is there. Move templates into it, or create one in it.'),
  'folder-changed': mark('The folder is changed.'),
  'folder-removed': mark('The folder is removed. What was in it is now in the folder around it.'),
  archived: mark('The template is archived. Messages that were accepted with it are still sent.'),
}

/** What `?folder=` can say beside an id. */
const NO_FOLDER = 'none'
const ARCHIVED = 'archived'
const LONGEST_SEARCH = 200

export async function listTemplates(visit: ServiceVisit): Promise<Answer> {
  const { parts, service, query, actor } = visit
  const { sql } = parts.db
  const asked = {
    folder: query.get('folder') ?? '',
    q: (query.get('q') ?? '').trim().slice(0, LONGEST_SEARCH),
    category: readId(query.get('category')),
  }
  const [tree, all, offered] = await Promise.all([
    folderTree(sql, service.id),
    totals(sql, service.id),
    categories(sql),
  ])
  const folder = flat(tree).find(({ id }) => id === readId(asked.folder)) ?? null
  if (asked.folder && !folder && asked.folder !== NO_FOLDER && asked.folder !== ARCHIVED) throw refuse.notFound()
  const isArchived = asked.folder === ARCHIVED

  // Words are looked for in all folders: people search because they do not know where something is.
  const wanted: Wanted = {
    archived: isArchived,
    category: asked.category,
    ...(asked.q && { words: asked.q }),
    ...(!asked.q && folder && { folders: flat([folder]).map(({ id }) => id) }),
    ...(!asked.q && asked.folder === NO_FOLDER && { folders: [null] }),
  }
  const page = await browse(sql, service.id, wanted, fromIn(query))
  const failed = statusesOf(['failed'])
  const sent = visit.may('see-service')
    ? await sentByTemplate(
        { ...parts, sql },
        actor,
        service.id,
        page.templates.map(({ id }) => id),
        failed,
      )
    : new Map()
  const title = isArchived ? t`Archived templates` : folder ? folder.name : t`Templates`
  const keep = { folder: asked.folder, q: asked.q, category: asked.category }
  const isFiltered = asked.q !== '' || asked.category !== null
  const [first, last] = [page.templates[0], page.templates.at(-1)]

  return {
    kind: 'page',
    title,
    nav: 'templates',
    body: (
      <>
        <PageHead
          title={folder ? <bdi>{folder.name}</bdi> : title}
          {...(folder && { crumbs: crumbsAbove(service.id, tree, folder) })}
          lede={ledeOf(visit, all, tree, folder, isArchived)}
        >
          <Actions visit={visit} folder={folder} />
        </PageHead>
        <Done done={query.get('done')} sentences={DONE} />
        <div class="card">
          <div class="split split-tree">
            <Tree visit={visit} tree={tree} all={all} current={asked.q ? '' : asked.folder} folder={folder} />
            <div>
              <Filters label={t`Templates`} action={templatesPath(service.id)} class="card-body">
                <div class="search">
                  <SearchField name="q" label={t`Name or words of a template`} value={asked.q} />
                </div>
                {asked.folder !== '' && <input type="hidden" name="folder" value={asked.folder} />}
                <FilterSelect
                  label={t`Category`}
                  name="category"
                  value={asked.category}
                  options={[['', t`All categories`], ...offered.map(({ id, name }) => [id, name] as const)]}
                />
              </Filters>
              {asked.q !== '' && (
                <p class="card-body muted sm" role="status">
                  {plural(
                    page.found,
                    rich`${visit.formats.number(page.found)} template has “${<bdi>{asked.q}</bdi>}” in the name, category or text, in ${isArchived ? t`archived templates` : t`all folders`}.`,
                    rich`${visit.formats.number(page.found)} templates have “${<bdi>{asked.q}</bdi>}” in the name, category or text, in ${isArchived ? t`archived templates` : t`all folders`}.`,
                  )}
                </p>
              )}
              {page.templates.length > 0 ? (
                <Table
                  caption={asked.q ? t`Templates found` : folder ? t`Templates in ${folder.name}` : title}
                  columns={columnsFor(visit, tree, sent, asked.q !== '' || folder?.inside.length !== 0)}
                  rows={page.templates}
                  keyOf={({ id }) => id}
                  data-rows=""
                />
              ) : (
                <Nothing
                  visit={visit}
                  isFiltered={isFiltered}
                  isArchived={isArchived}
                  folder={folder}
                  total={all.live}
                />
              )}
              {(page.hasEarlier || page.hasLater) && first && last && (
                <Pages
                  found={page.found}
                  earlier={page.hasEarlier ? templatesPath(service.id, { ...keep, before: first.id }) : null}
                  later={page.hasLater ? templatesPath(service.id, { ...keep, after: last.id }) : null}
                />
              )}
            </div>
          </div>
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

function crumbsAbove(service: Id, tree: readonly PlacedFolder[], folder: PlacedFolder): [string, string][] {
  const all = flat(tree)
  return [
    [t`Templates`, templatesPath(service)],
    ...folder.ids
      .slice(0, -1)
      .map((id): [string, string] => [
        all.find(one => one.id === id)?.name ?? '',
        templatesPath(service, { folder: id }),
      ]),
  ]
}

function ledeOf(
  { formats }: ServiceVisit,
  all: { live: number; archived: number },
  tree: readonly PlacedFolder[],
  folder: PlacedFolder | null,
  isArchived: boolean,
): string {
  const templates = (count: number) =>
    plural(count, t`${formats.number(count)} template`, t`${formats.number(count)} templates`)
  const folders = (count: number) =>
    plural(count, t`${formats.number(count)} folder`, t`${formats.number(count)} folders`)
  if (isArchived) return t`${templates(all.archived)}. They cannot be used any more; messages made from them stay.`
  if (folder) {
    const inside = flat(folder.inside).length
    return inside > 0
      ? t`${templates(folder.all_templates)}, with those of ${folders(inside)} inside`
      : templates(folder.all_templates)
  }
  const around = flat(tree).length
  return around > 0 ? t`${templates(all.live)} in ${folders(around)}` : templates(all.live)
}

function Actions({ visit, folder }: { visit: ServiceVisit; folder: PlacedFolder | null }) {
  const { url, service } = visit
  if (!visit.may('manage-templates')) return null
  const into = { folder: folder?.id }
  return (
    <>
      {folder && (
        <a class="btn" href={url(folderPath(service.id, folder.id))}>
          <Icon name="edit" />
          {t`Change folder`}
        </a>
      )}
      <a class="btn" href={url(withFolder(folderPath(service.id, 'new'), into.folder))}>
        <Icon name="folder" />
        {t`New folder`}
      </a>
      <a class="btn btn-primary" href={url(withFolder(`/s/${service.id}/templates/new`, into.folder))}>
        <Icon name="plus" />
        {t`New template`}
      </a>
    </>
  )
}

const withFolder = (path: string, folder: Id | undefined) => (folder ? `${path}?folder=${folder}` : path)

/** Up to here all folders are shown; above, those at the top and those around and inside the current one. */
const MOST_OPEN = 60

function Tree(props: {
  visit: ServiceVisit
  tree: readonly PlacedFolder[]
  all: { live: number; loose: number; archived: number }
  current: string
  folder: PlacedFolder | null
}) {
  const { visit, tree, all, current, folder } = props
  const isOpen =
    flat(tree).length <= MOST_OPEN ? () => true : (one: PlacedFolder) => folder?.ids.includes(one.id) === true
  return (
    <nav class="card-body" aria-label={t`Folders`}>
      <ul class="tree">
        <Leaf visit={visit} words={t`All templates`} folder="" count={all.live} current={current} />
        <Branches visit={visit} folders={tree} current={current} isOpen={isOpen} />
        {tree.length > 0 && all.loose > 0 && (
          <Leaf visit={visit} words={t`In no folder`} folder={NO_FOLDER} count={all.loose} current={current} />
        )}
        {all.archived > 0 && (
          <Leaf visit={visit} words={t`Archived`} folder={ARCHIVED} count={all.archived} current={current} />
        )}
      </ul>
    </nav>
  )
}

function Branches(props: {
  visit: ServiceVisit
  folders: readonly PlacedFolder[]
  current: string
  isOpen(folder: PlacedFolder): boolean
}) {
  const { folders, ...rest } = props
  return (
    <>
      {folders.map(one => (
        <Leaf
          key={one.id}
          visit={rest.visit}
          words={one.name}
          folder={one.id}
          count={one.all_templates}
          current={rest.current}
        >
          {one.inside.length > 0 && rest.isOpen(one) && (
            <ul class="tree">
              <Branches {...rest} folders={one.inside} />
            </ul>
          )}
        </Leaf>
      ))}
    </>
  )
}

function Leaf(props: {
  visit: ServiceVisit
  words: string
  folder: string
  count: number
  current: string
  children?: ComponentChildren
}) {
  const { visit, words, folder, count, current } = props
  return (
    <li>
      <a
        href={visit.url(templatesPath(visit.service.id, { folder }))}
        {...(folder === current && { 'aria-current': 'page' as const })}
      >
        <Icon name="folder" />
        <bdi>{words}</bdi>
        <span class="count push">{visit.formats.number(count)}</span>
      </a>
      {props.children}
    </li>
  )
}

const KINDS: Readonly<Record<Channel, readonly ['email' | 'text', Marked]>> = {
  email: ['email', mark('E-mail')],
  sms: ['text', mark('Text message')],
}

function columnsFor(
  { url, service, formats }: ServiceVisit,
  tree: readonly PlacedFolder[],
  sent: ReadonlyMap<Id, { accepted: number; failed: number }>,
  showsFolder: boolean,
): Column<ListedTemplate>[] {
  const places = new Map(flat(tree).map(folder => [folder.id, pathText(folder)]))
  return [
    {
      head: t`Template`,
      cell: row => {
        const place = showsFolder && row.folder_id ? places.get(row.folder_id) : undefined
        return (
          <Title
            href={url(templatePath(service.id, row.id))}
            sub={[row.category_name, place].filter(Boolean).join(' · ')}
          >
            {row.name.trim() || t`Without a name`}
          </Title>
        )
      },
    },
    {
      head: t`Kind`,
      kind: 'status',
      cell: row => (
        <>
          <Icon name={KINDS[row.type][0]} />
          <Hidden>{say(KINDS[row.type][1])}</Hidden>
        </>
      ),
    },
    { head: t`Version`, kind: 'num', class: 'hide-mid', cell: row => formats.number(row.version) },
    { head: t`Sent, 7 days`, kind: 'num', cell: row => formats.number(sent.get(row.id)?.accepted ?? 0) },
    {
      head: t`Failed`,
      kind: 'num',
      cell: row => {
        const { accepted = 0, failed = 0 } = sent.get(row.id) ?? {}
        const share = formats.share(failed, accepted)
        return failed * 20 > accepted ? <span class="bad strong">{share}</span> : share
      },
    },
    { head: t`Changed`, kind: 'num', cell: row => <Time at={row.updated_at ?? row.created_at} /> },
  ]
}

function Nothing(props: {
  visit: ServiceVisit
  isFiltered: boolean
  isArchived: boolean
  folder: PlacedFolder | null
  total: number
}) {
  const { visit, folder } = props
  const { url, service } = visit
  if (props.isFiltered)
    return (
      <Empty
        icon="search"
        title={t`Nothing matches`}
        level={2}
        text={t`Search looks for exactly these words, in any case of letters.`}
      >
        <a class="btn" href={url(templatesPath(service.id))}>{t`Show all templates`}</a>
      </Empty>
    )
  if (props.isArchived)
    return (
      <Empty
        icon="template"
        title={t`No template is archived`}
        level={2}
        text={t`Archived templates are listed here.`}
      />
    )
  const canAdd = visit.may('manage-templates')
  return (
    <Empty
      icon="template"
      title={folder ? t`This folder is empty` : props.total === 0 ? t`No template yet` : t`Nothing here`}
      level={2}
      text={
        canAdd
          ? t`A template holds the words of a message, with placeholders for what differs from one recipient to the next.`
          : t`Authors and managers create templates.`
      }
    >
      {canAdd && (
        <a class="btn btn-primary" href={url(withFolder(`/s/${service.id}/templates/new`, folder?.id))}>
          <Icon name="plus" />
          {t`New template`}
        </a>
      )}
    </Empty>
  )
}

/** By name, so not "newer" and "older". */
function Pages(props: { found: number; earlier: string | null; later: string | null }) {
  const { url, formats } = usePage()
  return (
    <nav class="pager" aria-label={t`Pages`}>
      <span>{rich`${formats.number(props.found)} templates by name`}</span>
      <span class="row">
        {props.earlier && <a class="btn btn-sm" rel="prev" href={url(props.earlier)}>{t`Previous`}</a>}
        {props.later && <a class="btn btn-sm" rel="next" href={url(props.later)}>{t`Next`}</a>}
      </span>
    </nav>
  )
}
