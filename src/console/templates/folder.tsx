// Create a folder; rename, move and remove one.
import { readId } from '../../core/id.ts'
import { flat } from '../../templates/folder.ts'
import { addFolder, changeFolder, dropFolder, folderTree } from '../../templates/folders.ts'
import { refuse } from '../../templates/refusals.ts'
import { Card, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { ErrorSummary, type FieldErrors, Form } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { sentencesOf } from '../refused.ts'
import { plural, rich, t } from '../words/index.ts'
import { FolderField, NameField } from './fields.tsx'
import { idIn, saidIn } from './given.ts'
import { crumbsTo } from './head.tsx'
import { folderPath, templatesPath } from './paths.ts'

type Given = { name: string; folder: string; errors: FieldErrors }

export function newFolder(visit: ServiceVisit): Promise<Answer> {
  return newFolderPage(visit, { name: '', folder: readId(visit.query.get('folder')) ?? '', errors: {} })
}

export async function createFolder(visit: ServiceVisit): Promise<Answer> {
  const { form, parts, actor, service } = visit
  const given = { name: form.get('name') ?? '', folder: form.get('folder') ?? '' }
  if (given.name.trim() === '')
    return newFolderPage(visit, { ...given, errors: { name: t`Enter a name for the folder.` } })
  try {
    const made = await addFolder(parts, actor, service.id, given.name, readId(given.folder))
    return { kind: 'redirect', to: templatesPath(service.id, { folder: made.id, done: 'folder-created' }) }
  } catch (error) {
    return newFolderPage(visit, { ...given, errors: { name: sentencesOf(saidIn(error)) } })
  }
}

async function newFolderPage(visit: ServiceVisit, given: Given): Promise<Answer> {
  const { service } = visit
  const tree = await folderTree(visit.parts.db.sql, service.id)
  const isWrong = Object.keys(given.errors).length > 0
  return {
    kind: 'page',
    title: isWrong ? t`Error: ${t`New folder`}` : t`New folder`,
    nav: 'templates',
    width: 'narrow',
    ...(isWrong && { status: 422 }),
    body: (
      <>
        <PageHead title={t`New folder`} crumbs={crumbsTo(service.id, tree, readId(given.folder))} />
        <ErrorSummary errors={given.errors} />
        <Form>
          <NameField value={given.name} hint={t`At most 255 characters.`} error={given.errors.name} />
          <FolderField
            folders={tree}
            value={given.folder}
            label={t`Inside`}
            none={t`No other folder`}
            hint={t`At most 5 folders can be inside each other.`}
          />
          <div class="row">
            <button class="btn btn-primary" type="submit">{t`Create folder`}</button>
          </div>
        </Form>
        <AsCommand command={`herald folder add ${service.id} NAME --in FOLDER`} />
      </>
    ),
  }
}

export async function showFolder(visit: ServiceVisit): Promise<Answer> {
  return folderPage(visit, null)
}

export async function saveFolder(visit: ServiceVisit): Promise<Answer> {
  const { form, parts, actor, service } = visit
  const id = idIn(visit, 'folder')
  const given = { name: form.get('name') ?? '', folder: form.get('folder') ?? '' }
  if (given.name.trim() === '')
    return folderPage(visit, { ...given, errors: { name: t`Enter a name for the folder.` } })
  try {
    await changeFolder(parts, actor, service.id, id, { name: given.name, parent: readId(given.folder) })
    return { kind: 'redirect', to: templatesPath(service.id, { folder: id, done: 'folder-changed' }) }
  } catch (error) {
    return folderPage(visit, { ...given, errors: { name: sentencesOf(saidIn(error)) } })
  }
}

export async function removeFolder(visit: ServiceVisit): Promise<Answer> {
  const { parts, actor, service } = visit
  try {
    const gone = await dropFolder(parts, actor, service.id, idIn(visit, 'folder'), { moveOut: true })
    return { kind: 'redirect', to: templatesPath(service.id, { folder: gone.parent_id, done: 'folder-removed' }) }
  } catch (error) {
    return folderPage(visit, { name: null, folder: null, errors: { remove: sentencesOf(saidIn(error)) } })
  }
}

async function folderPage(
  visit: ServiceVisit,
  given: { name: string | null; folder: string | null; errors: FieldErrors } | null,
): Promise<Answer> {
  const { service, formats, url } = visit
  const tree = await folderTree(visit.parts.db.sql, service.id)
  const id = idIn(visit, 'folder')
  const folder = flat(tree).find(one => one.id === id)
  if (!folder) throw refuse.notFound()
  const isEmpty = folder.all_templates === 0 && folder.inside.length === 0
  const around = folder.path.length > 1 ? t`the folder “${folder.path.at(-2) ?? ''}”` : t`the list of all templates`
  const title = t`Folder ${folder.name}`
  return {
    kind: 'page',
    title: given ? t`Error: ${title}` : title,
    nav: 'templates',
    width: 'narrow',
    ...(given && { status: 422 }),
    body: (
      <>
        <PageHead
          title={<bdi>{folder.name}</bdi>}
          crumbs={crumbsTo(service.id, tree, folder.id)}
          lede={plural(
            folder.all_templates,
            t`${formats.number(folder.all_templates)} template. Moving a folder changes no template: their ids stay.`,
            t`${formats.number(folder.all_templates)} templates. Moving a folder changes no template: their ids stay.`,
          )}
        />
        {given && <ErrorSummary errors={given.errors} />}
        <Form>
          <NameField value={given?.name ?? folder.name} hint={t`At most 255 characters.`} error={given?.errors.name} />
          <FolderField
            folders={tree}
            value={given?.folder ?? folder.parent_id ?? ''}
            label={t`Inside`}
            none={t`No other folder`}
            hint={t`At most 5 folders can be inside each other.`}
            without={folder.id}
          />
          <div class="row">
            <button class="btn btn-primary" type="submit">{t`Save folder`}</button>
            <a class="btn" href={url(templatesPath(service.id, { folder: folder.id }))}>{t`Back to its templates`}</a>
          </div>
        </Form>
        <Card title={t`Remove the folder`} id="remove">
          <div class="stack">
            <p>
              {isEmpty
                ? t`The folder is empty. Nothing else is removed.`
                : rich`Its templates and folders move to ${<bdi>{around}</bdi>}. No template is changed or removed.`}
            </p>
            <Form action={folderPath(service.id, folder.id, '/remove')} class="row">
              <button class="btn btn-danger" type="submit">{t`Remove the folder`}</button>
            </Form>
          </div>
        </Card>
        <AsCommand
          command={`herald folder set ${service.id} ${folder.id} --name NAME\nherald folder remove ${service.id} ${folder.id} --move-templates-out`}
        />
      </>
    ),
  }
}
