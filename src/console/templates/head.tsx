// The head of every page of one template: where it is, its name, and tabs to its views.
import type { ComponentChildren } from 'preact'
import type { Id } from '../../core/id.ts'
import { flat, type PlacedFolder } from '../../templates/folder.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { PageHead, Tabs } from '../components/basics.tsx'
import { usePage } from '../components/context.ts'
import { type Marked, mark, say, t } from '../words/index.ts'
import { templatePath, templatesPath } from './paths.ts'

export type TemplateTab = 'content' | 'versions' | 'settings' | 'api'

const TABS: readonly (readonly [TemplateTab, words: Marked, rest: string])[] = [
  ['content', mark('Content'), ''],
  ['versions', mark('Versions'), '/versions'],
  ['settings', mark('Settings'), '/settings'],
  ['api', mark('Use by API'), '/api'],
]

/** `folders`: the tree of the service. `children`: actions at the end. */
export function TemplateHead(props: {
  template: TemplateRow
  folders: readonly PlacedFolder[]
  current: TemplateTab
  lede?: ComponentChildren
  children?: ComponentChildren
}) {
  const { template, folders, current } = props
  return (
    <>
      <PageHead
        title={<bdi>{template.name}</bdi>}
        crumbs={crumbsTo(template.service_id, folders, template.folder_id)}
        lede={props.lede}
      >
        {props.children}
      </PageHead>
      <TemplateTabs template={template} current={current} />
    </>
  )
}

export function TemplateTabs(props: {
  template: Pick<TemplateRow, 'id' | 'service_id' | 'version'>
  current: TemplateTab
}) {
  const { url } = usePage()
  const { template, current } = props
  return (
    <Tabs
      label={t`Template`}
      tabs={TABS.map(([tab, words, rest]) => ({
        words: say(words),
        href: url(templatePath(template.service_id, template.id, rest)),
        ...(tab === 'versions' && { count: template.version }),
        current: tab === current,
      }))}
    />
  )
}

/** The list of templates, then each folder down to this one. */
export function crumbsTo(service: Id, folders: readonly PlacedFolder[], folder: Id | null): [string, string][] {
  const all = flat(folders)
  const around = all.find(one => one.id === folder)?.ids ?? []
  return [
    [t`Templates`, templatesPath(service)],
    ...around.map((id): [string, string] => [
      all.find(one => one.id === id)?.name ?? '',
      templatesPath(service, { folder: id }),
    ]),
  ]
}
