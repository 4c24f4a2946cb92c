// Name, category, folder and the treatment of values. A new folder alone makes no version; everything else does.
import { CHANNELS } from '../../channels/index.ts'
import { readId } from '../../core/id.ts'
import type { PlacedFolder } from '../../templates/folder.ts'
import { move } from '../../templates/move.ts'
import { categories, type TemplateRow } from '../../templates/sql.ts'
import { update } from '../../templates/update.ts'
import { Callout, Card, Done, Facts } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { Choices, ErrorSummary, type FieldErrors, Form } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { mark, say, t } from '../words/index.ts'
import { ChangedMeanwhile } from './changed.tsx'
import { CategoryField, FolderField, NameField } from './fields.tsx'
import { isChangedMeanwhile, numberIn, saidIn, templateIn } from './given.ts'
import { TemplateHead } from './head.tsx'
import { templatePath } from './paths.ts'

const DONE = {
  moved: mark('The template is in another folder. Its version is the same.'),
  saved: mark('The settings are saved as a new version. Messages that were accepted keep theirs.'),
  same: mark('Nothing was different, so nothing was saved.'),
}

type Given = { name: string; category: string; folder: string; values: string }

export async function showSettings(visit: ServiceVisit): Promise<Answer> {
  const { template, folders } = await templateIn(visit)
  return page(visit, template, folders, {})
}

export async function saveSettings(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service, form } = visit
  const { template, folders } = await templateIn(visit)
  const given: Given = {
    name: form.get('name') ?? '',
    category: form.get('category') ?? '',
    folder: form.get('folder') ?? '',
    values: form.get('values') ?? valuesOf(template),
  }
  const category = readId(given.category)
  const errors: FieldErrors = {
    ...(given.name.trim() === '' && { name: t`Enter a name. Only your team sees it.` }),
    ...(!category && { category: t`Choose what the messages are for.` }),
  }
  if (!category || Object.keys(errors).length > 0) return page(visit, template, folders, { given, errors })
  const folder = readId(given.folder)
  const isMoved = folder !== template.folder_id && !template.archived
  const isChanged =
    given.name !== template.name || category !== template.category_id || given.values !== valuesOf(template)
  const to = (done: keyof typeof DONE): Answer => ({
    kind: 'redirect',
    to: templatePath(service.id, template.id, `/settings?done=${done}`),
  })
  try {
    if (isChanged) {
      await update(
        parts,
        actor,
        service.id,
        template.id,
        {
          name: given.name.trim(),
          template_category_id: category,
          ...(isMoved && { parent_folder_id: folder }),
        },
        {
          literalValues: given.values === 'plain',
          expectedVersion: numberIn(form.get('version')) ?? 0,
        },
      )
      return to('saved')
    }
    if (!isMoved) return to('same')
    await move(parts, actor, service.id, [template.id], folder)
    return to('moved')
  } catch (error) {
    if (isChangedMeanwhile(error)) {
      const now = await templateIn(visit)
      return page(visit, now.template, now.folders, { given, isStale: true })
    }
    const { message } = saidIn(error)
    const field = /folder/.test(message) ? 'folder' : /categor/.test(message) ? 'category' : 'name'
    return page(visit, template, folders, { given, errors: { [field]: say(SENTENCES[field]) } })
  }
}

const SENTENCES = {
  folder: mark('Choose another folder: this one has been removed.'),
  category: mark('Choose another category.'),
  name: mark('Enter a name of at most 254 characters.'),
} as const

const valuesOf = ({ literal_values }: TemplateRow) => (literal_values ? 'plain' : 'formatted')

async function page(
  visit: ServiceVisit,
  template: TemplateRow,
  folders: readonly PlacedFolder[],
  { given, errors = {}, isStale = false }: { given?: Given; errors?: FieldErrors; isStale?: boolean },
): Promise<Answer> {
  const { parts, service, query } = visit
  const offered = await categories(parts.db.sql)
  const isWrong = Object.keys(errors).length > 0
  const canChange = visit.may('manage-templates')
  const shown = given ?? {
    name: template.name,
    category: template.category_id,
    folder: template.folder_id ?? '',
    values: valuesOf(template),
  }
  return {
    kind: 'page',
    title: isWrong || isStale ? t`Error: ${t`Settings of ${template.name}`}` : t`Settings of ${template.name}`,
    nav: 'templates',
    width: 'narrow',
    ...(isWrong && { status: 422 }),
    ...(isStale && { status: 409 }),
    body: (
      <>
        <TemplateHead template={template} folders={folders} current="settings" />
        <Done done={query.get('done')} sentences={DONE} />
        <ErrorSummary errors={errors} />
        {isStale && (
          <ChangedMeanwhile
            latest={template}
            yours={{
              ...template,
              name: shown.name.trim(),
              category_name: offered.find(({ id }) => id === shown.category)?.name ?? template.category_name,
              literal_values: shown.values === 'plain',
            }}
          />
        )}
        {template.archived && (
          <Callout tone="idle">
            <p>{t`This template is archived. Nothing can be sent with it any more, and that cannot be undone.`}</p>
          </Callout>
        )}
        {canChange ? (
          <Form>
            <input type="hidden" name="version" value={template.version} />
            <NameField
              value={shown.name}
              hint={t`Only your team sees it, in lists and reports. At most 254 characters.`}
              error={errors.name}
            />
            <CategoryField
              categories={offered}
              value={shown.category}
              error={errors.category}
              current={{ id: template.category_id, name: template.category_name }}
            />
            {!template.archived && (
              <FolderField
                folders={folders}
                value={shown.folder}
                error={errors.folder}
                hint={t`Moving a template makes no version.`}
              />
            )}
            {CHANNELS[template.type].template.hasSubject && (
              <Choices
                legend={t`Markdown in values`}
                name="values"
                type="radio"
                hint={t`Values come from whoever sends: an application, a file, or a person who filled in a form.`}
                options={[
                  {
                    value: 'plain',
                    words: t`Show values as they are`,
                    hint: t`For values that come from the public: a name like “[click here](https://…)” does not become a link.`,
                    checked: shown.values === 'plain',
                  },
                  {
                    value: 'formatted',
                    words: t`Format values`,
                    hint: t`Links, lists and headings in values become links, lists and headings.`,
                    checked: shown.values === 'formatted',
                  },
                ]}
              />
            )}
            <div class="row">
              <button class="btn btn-primary" type="submit">{t`Save settings`}</button>
            </div>
          </Form>
        ) : (
          <Card title={t`Settings`} id="facts">
            <ReadOnly template={template} folders={folders} />
          </Card>
        )}
        {canChange && !template.archived && (
          <Card title={t`Archive the template`} id="archive">
            <div class="stack">
              <p>{t`Nothing can be sent with it afterwards. Messages that were accepted are still sent. It cannot be undone.`}</p>
              <p>
                <a
                  class="btn"
                  href={visit.url(templatePath(service.id, template.id, '/archive'))}
                >{t`See what uses it`}</a>
              </p>
            </div>
          </Card>
        )}
        <AsCurl
          method="PATCH"
          path={`/v2/manage-template/${template.id}`}
          body={{ name: 'NAME', template_category_id: template.category_id }}
        />
      </>
    ),
  }
}

const ReadOnly = ({ template, folders }: { template: TemplateRow; folders: readonly PlacedFolder[] }) => (
  <div class="stack">
    <Facts
      rows={[
        [t`Name`, <bdi key="name">{template.name}</bdi>],
        [t`Category`, <bdi key="category">{template.category_name}</bdi>],
        [t`Folder`, <bdi key="folder">{placeOf(folders, template)}</bdi>],
        CHANNELS[template.type].template.hasSubject && [
          t`Markdown in values`,
          template.literal_values ? t`Shown as it is` : t`Formatted`,
        ],
      ]}
    />
    <p class="muted sm">{t`Authors and managers change these.`}</p>
  </div>
)

function placeOf(folders: readonly PlacedFolder[], { folder_id }: TemplateRow): string {
  const walk = (list: readonly PlacedFolder[]): PlacedFolder | undefined =>
    list.find(one => one.id === folder_id) ?? list.map(one => walk(one.inside)).find(Boolean)
  return folder_id ? (walk(folders)?.path.join(' / ') ?? '–') : t`In no folder`
}
