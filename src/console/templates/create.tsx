// A new template: its kind, name, category and folder. It begins with some words that show how placeholders are written.
import { type Channel, channelNames } from '../../channels/index.ts'
import { readId } from '../../core/id.ts'
import { maySend } from '../../services/service.ts'
import { create } from '../../templates/create.ts'
import { folderTree } from '../../templates/folders.ts'
import { categories } from '../../templates/sql.ts'
import { PageHead } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { Choices, ErrorSummary, type FieldErrors, Form } from '../components/form.tsx'
import type { Answer, ServiceVisit } from '../page.ts'
import { type Marked, mark, say, t } from '../words/index.ts'
import { CategoryField, FolderField, NameField } from './fields.tsx'
import { saidIn } from './given.ts'
import { crumbsTo } from './head.tsx'
import { templatePath } from './paths.ts'

const KINDS: Readonly<Record<Channel, { words: Marked; hint: Marked; content: Marked; subject?: Marked }>> = {
  email: {
    words: mark('E-mail'),
    hint: mark('A subject and a text with headings, lists and links.'),
    subject: mark('About your request'),
    content: mark(
      'Dear ((name)),\n\nwrite your message here.\n\n* A line that starts with a star is an item of a list\n',
    ),
  },
  sms: {
    words: mark('Text message'),
    hint: mark('Plain text of up to 612 characters.'),
    content: mark('Hello ((name)), write your message here.'),
  },
}

type Given = { type: string; name: string; category: string; folder: string; errors: FieldErrors }

export const newTemplate = (visit: ServiceVisit): Promise<Answer> =>
  page(visit, { type: '', name: '', category: '', folder: readId(visit.query.get('folder')) ?? '', errors: {} })

export async function createTemplate(visit: ServiceVisit): Promise<Answer> {
  const { form, parts, actor, service } = visit
  const given = {
    type: form.get('type') ?? '',
    name: form.get('name') ?? '',
    category: form.get('category') ?? '',
    folder: form.get('folder') ?? '',
  }
  const type = channelNames.find(name => name === given.type)
  const folder = readId(given.folder)
  const errors: FieldErrors = {
    ...(!type && { type: t`Choose e-mail or text message.` }),
    ...(type && !maySend(service, type) && { type: t`Choose another kind. This service may not send them.` }),
    ...(given.name.trim() === '' && { name: t`Enter a name. Only your team sees it.` }),
    ...(!readId(given.category) && { category: t`Choose what the messages are for.` }),
  }
  if (!type || Object.keys(errors).length > 0) return page(visit, { ...given, errors })
  try {
    const { id } = await create(parts, actor, service, {
      name: given.name.trim(),
      template_type: type,
      content: say(KINDS[type].content),
      ...(KINDS[type].subject !== undefined && { subject: say(KINDS[type].subject) }),
      template_category_id: given.category,
      ...(folder && { parent_folder_id: folder }),
    })
    return { kind: 'redirect', to: templatePath(service.id, id, '?done=created') }
  } catch (error) {
    const refusal = saidIn(error)
    const field = /folder/.test(refusal.message) ? 'folder' : /categor/.test(refusal.message) ? 'category' : 'name'
    return page(visit, { ...given, errors: { [field]: say(SENTENCES[field]) } })
  }
}

const SENTENCES = {
  folder: mark('Choose another folder: this one has been removed.'),
  category: mark('Choose another category.'),
  name: mark('Enter a name of at most 254 characters.'),
} as const

async function page(visit: ServiceVisit, given: Given): Promise<Answer> {
  const { parts, service } = visit
  const { sql } = parts.db
  const [tree, offered] = await Promise.all([folderTree(sql, service.id), categories(sql)])
  const isWrong = Object.keys(given.errors).length > 0
  const allowed = channelNames.filter(type => maySend(service, type))
  const [only] = allowed.length === 1 ? allowed : []
  const { errors } = given
  return {
    kind: 'page',
    title: isWrong ? t`Error: ${t`New template`}` : t`New template`,
    nav: 'templates',
    width: 'narrow',
    ...(isWrong && { status: 422 }),
    body: (
      <>
        <PageHead
          title={t`New template`}
          crumbs={crumbsTo(service.id, tree, readId(given.folder))}
          lede={t`Next you write its words and see them as recipients do.`}
        />
        <ErrorSummary errors={errors} title={t`Not created yet`} />
        <Form>
          <Choices
            legend={t`What it becomes`}
            name="type"
            type="radio"
            {...(errors.type && { error: errors.type })}
            options={channelNames.map(type => ({
              value: type,
              words: say(KINDS[type].words),
              hint: allowed.includes(type) ? say(KINDS[type].hint) : t`This service may not send them.`,
              disabled: !allowed.includes(type),
              checked:
                given.type === type || (given.type === '' && (only ?? 'email') === type && allowed.includes(type)),
            }))}
          />
          <NameField
            value={given.name}
            hint={t`Only your team sees it, in lists and reports. At most 254 characters.`}
            error={errors.name}
          />
          <CategoryField
            categories={offered}
            value={given.category || (isWrong ? '' : (offered[0]?.id ?? ''))}
            error={errors.category}
          />
          <FolderField folders={tree} value={given.folder} error={errors.folder} />
          <div class="row">
            <button class="btn btn-primary" type="submit">{t`Create template`}</button>
          </div>
        </Form>
        <AsCurl
          method="POST"
          path="/v2/manage-template"
          body={{
            name: 'NAME',
            template_type: 'email',
            subject: KINDS.email.subject,
            content: 'Dear ((name)), …',
            template_category_id: offered[0]?.id,
          }}
        />
      </>
    ),
  }
}
