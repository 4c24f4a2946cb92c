// The page of a template: authors write it, everybody else reads it.
import type { ComponentChildren } from 'preact'
import { CHANNELS } from '../../channels/index.ts'
import type { Values } from '../../rendering/placeholders.ts'
import { type Draft, type Examined, examine, samplesFor } from '../../templates/draft.ts'
import { folderTree } from '../../templates/folders.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Callout, Card, Done, Icon, PageHead, Time } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { ErrorSummary, type FieldErrors, FormToken } from '../components/form.tsx'
import { Badge } from '../components/status.tsx'
import type { PageAnswer, ServiceVisit } from '../page.ts'
import { sendPath } from '../send/paths.ts'
import { crumbsTo, TemplateTabs } from '../templates/head.tsx'
import { mark, rich, t } from '../words/index.ts'
import { known } from '../words/nouns.tsx'
import { Placeholders } from './placeholders.tsx'
import { EmailPreview, PreviewNote, TextPreview, VIEWS, type View, Views } from './preview.tsx'
import { Alphabet, Counter, Problems } from './problems.tsx'
import { SourceField, SourceText } from './source.tsx'

const DONE = {
  saved: mark('The new version is in use. Messages that were accepted before keep theirs.'),
  samples: mark('The example values are saved. The template itself is unchanged.'),
  restored: mark('The old content is in use again, as a new version.'),
  created: mark('The template is there. Write its text, then save it.'),
} as const

/** What the page shows: the saved version, or what somebody is writing. */
export type Shown = {
  template: TemplateRow
  draft: Draft
  values: Values
  /** The version that is being edited. */
  version: number
  /** The kept draft that the frames show; `none`: it is too large to be kept; null: the saved version. */
  draftId: string | null
}

export type PageOptions = {
  status?: number
  errors?: FieldErrors
  /** What did not happen because of the errors. */
  not?: string
  /** On top, below the heading. */
  notice?: ComponentChildren
}

export const pathOf = (visit: ServiceVisit, template: Pick<TemplateRow, 'id'>) =>
  `/s/${visit.service.id}/templates/${template.id}`

export const prefixOf = ({ service }: ServiceVisit) => (service.sms_prefix ? service.name : null)

/** Everything about a draft that the page and the script show. */
export async function preparePage(visit: ServiceVisit, shown: Shown): Promise<Prepared> {
  const { template, draft } = shown
  const values = samplesFor(draft, shown.values)
  const [examined, loaded] = await Promise.all([
    examine(visit.parts, template, draft, values, { prefix: prefixOf(visit) }),
    visit.parts.services.get(visit.service.id),
  ])
  const sender = loaded?.senders.find(one => one.is_default)?.sender ?? loaded?.default_sender ?? visit.service.name
  const isEmail = CHANNELS[template.type].template.hasSubject
  const frame = (scheme: string) => {
    const query = new URLSearchParams({
      scheme,
      ...(shown.draftId ? { draft: shown.draftId } : { version: `${template.version}` }),
    })
    return visit.url(`${pathOf(visit, template)}/rendered?${query}`)
  }
  return {
    ...shown,
    values,
    examined,
    canEdit: visit.may('manage-templates') && !template.archived,
    isEmail,
    frames: { light: frame('light'), dark: frame('dark') },
    sender: {
      name: visit.service.name,
      detail: isEmail ? `${visit.service.mailbox}@${visit.parts.sendingDomain}` : sender,
    },
  }
}

export type Prepared = Shown & {
  examined: Examined
  canEdit: boolean
  isEmail: boolean
  frames: { light: string; dark: string }
  sender: { name: string; detail: string }
}

export async function editorPage(visit: ServiceVisit, shown: Shown, options: PageOptions = {}): Promise<PageAnswer> {
  const prepared = await preparePage(visit, shown)
  const { template, canEdit } = prepared
  const mayTry = visit.may('manage-templates') || visit.may('send-messages')
  const isWrong = options.errors !== undefined
  const folders = template.folder_id ? await folderTree(visit.parts.db.sql, visit.service.id) : []
  return {
    kind: 'page',
    title: isWrong ? t`Error: ${template.name}` : template.name,
    nav: 'templates',
    width: 'wide',
    ...(options.status !== undefined && { status: options.status }),
    body: (
      <>
        <PageHead
          title={<bdi>{template.name}</bdi>}
          crumbs={crumbsTo(visit.service.id, folders, template.folder_id)}
          lede={
            <>
              {template.archived ? (
                <Badge tone="idle" icon="inbox">{t`Archived`}</Badge>
              ) : (
                <Badge tone="good" icon="check">{rich`Version ${template.version} in use`}</Badge>
              )}{' '}
              <span class="muted">
                {rich`${<bdi>{template.category_name}</bdi>}, ${known(CHANNELS[template.type].words.one)}, changed ${<Time at={template.updated_at ?? template.created_at} />}`}
              </span>
            </>
          }
        >
          {/* Enter on a radio button presses the first button of its form. */}
          {canEdit && <button form="edit" formaction={visit.url(`${pathOf(visit, template)}/preview`)} hidden />}
          {visit.may('send-messages') && !template.archived && (
            <a class="btn" href={visit.url(sendPath(visit.service.id, 'one', { template: template.id }))}>
              <Icon name="send" />
              {t`Send`}
            </a>
          )}
          {visit.may('send-messages') && !template.archived && (
            <a class="btn" href={visit.url(sendPath(visit.service.id, 'file', { template: template.id }))}>
              <Icon name="upload" />
              {t`Send to many`}
            </a>
          )}
          {mayTry && !template.archived && <TryButton visit={visit} template={template} inForm={canEdit} />}
          {canEdit && (
            <button class="btn btn-primary" form="edit" name="act" value="save" data-save="">
              {rich`Save as version ${template.version + 1}`}
            </button>
          )}
        </PageHead>
        <TemplateTabs template={template} current="content" />
        <Done done={visit.query.get('done')} sentences={DONE} />
        {options.errors && <ErrorSummary errors={options.errors} {...(options.not && { title: options.not })} />}
        {options.notice}
        {canEdit ? (
          <Editor visit={visit} prepared={prepared} errors={options.errors ?? {}} />
        ) : (
          <Reader prepared={prepared} />
        )}
        <AsCurl
          method="PATCH"
          path={`/v2/manage-template/${template.id}`}
          body={prepared.isEmail ? { subject: '…', content: '…' } : { content: '…' }}
        />
      </>
    ),
  }
}

/** Inside the form of the editor it keeps what is written when the test cannot be sent. */
const TryButton = ({ visit, template, inForm }: { visit: ServiceVisit; template: TemplateRow; inForm: boolean }) => {
  const action = visit.url(`${pathOf(visit, template)}/test`)
  const words = (
    <>
      <Icon name="email" />
      {t`Send to myself`}
    </>
  )
  return inForm ? (
    <button class="btn" form="edit" formaction={action}>
      {words}
    </button>
  ) : (
    <form method="post" action={action}>
      <FormToken />
      <button class="btn">{words}</button>
    </form>
  )
}

function Editor({ visit, prepared, errors }: { visit: ServiceVisit; prepared: Prepared; errors: FieldErrors }) {
  const { template, draft, isEmail, examined } = prepared
  const action = visit.url(pathOf(visit, template))
  const view = VIEWS.find(([value]) => value === visit.form.get('view'))?.[0] ?? 'wide'
  return (
    <form class="editor" id="edit" method="post" action={action} noValidate data-editor={`${action}/live`}>
      <FormToken />
      <input type="hidden" name="version" value={prepared.version} />
      <div class="form">
        {isEmail && (
          <div class={errors.subject ? 'field field-bad' : 'field'}>
            <label class="label" for="subject">{t`Subject`}</label>
            <SourceField
              name="subject"
              value={draft.subject ?? ''}
              rows={1}
              line
              invalid={errors.subject !== undefined}
            />
          </div>
        )}
        <div class={errors.body ? 'field field-bad' : 'field'}>
          <label class="label" for="body">{t`Message`}</label>
          <p class="hint" id="body-hint">
            {isEmail && `${t`Markdown.`} `}
            {!isEmail && visit.service.sms_prefix && (
              <>
                {rich`“${<bdi>{visit.service.name}</bdi>}: ” comes first, because the settings of the service say so.`}{' '}
              </>
            )}
            {rich`Write placeholders in double round brackets: ${<code>((name))</code>}, ${<code>((late??text))</code>}.`}
          </p>
          <SourceField
            name="body"
            value={draft.content}
            rows={isEmail ? 16 : 6}
            odd={oddPlaces(examined)}
            describedBy="body-hint body-count"
            invalid={errors.body !== undefined}
          />
          <Counter examined={examined} />
        </div>
        <Alphabet shown={examined.shown} canEdit />
        <Problems problems={examined.problems} />
        <Placeholders
          placeholders={examined.placeholders}
          values={prepared.values}
          literalValues={isEmail ? template.literal_values : null}
          canEdit
          errors={errors}
        />
      </div>
      <Preview prepared={prepared} view={view} action={action} />
    </form>
  )
}

function Preview({ prepared, view, action }: { prepared: Prepared; view: View; action: string | null }) {
  const { isEmail, examined, frames, sender } = prepared
  const update = action !== null && (
    <button class="btn btn-sm" formaction={`${action}/preview`} data-update="">
      <Icon name="repeat" />
      {t`Update preview`}
    </button>
  )
  return (
    <div class={isEmail ? 'preview-pane stack' : 'stack'}>
      <div class="row row-between">
        <h2>{t`Preview`}</h2>
        {isEmail && <Views view={view} />}
      </div>
      {isEmail ? (
        <EmailPreview shown={examined.shown} frames={frames} sender={sender} />
      ) : (
        <TextPreview shown={examined.shown} sender={sender} />
      )}
      <p class="row row-tight sm">
        {update}
        <PreviewNote shown={examined.shown} />
      </p>
      <p class="error-text sm" role="status" data-lost="" hidden>
        {t`No connection to Herald. The preview shows an earlier text.`}
      </p>
    </div>
  )
}

function Reader({ prepared }: { prepared: Prepared }) {
  const { template, draft, isEmail, examined } = prepared
  return (
    <div class="editor">
      <div class="form">
        {isEmail && (
          <Card title={t`Subject`}>
            <SourceText text={draft.subject ?? ''} />
          </Card>
        )}
        <Card title={t`Message`}>
          <SourceText text={draft.content} />
        </Card>
        <Counter examined={examined} />
        <Alphabet shown={examined.shown} canEdit={false} />
        <Placeholders
          placeholders={examined.placeholders}
          values={prepared.values}
          literalValues={isEmail ? template.literal_values : null}
          canEdit={false}
        />
        {!template.archived && (
          <Callout tone="idle">
            <p>{t`Authors and managers of this service can change the template.`}</p>
          </Callout>
        )}
      </div>
      <Preview prepared={prepared} view="wide" action={null} />
    </div>
  )
}

/** Places in the body of characters that force the expensive alphabet. */
export const oddPlaces = ({ shown }: Examined): number[] =>
  shown?.kind === 'sms'
    ? shown.odd.flatMap(({ kind, origin }) =>
        kind === 'needs UCS-2' && typeof origin !== 'string' && 'at' in origin ? [origin.at] : [],
      )
    : []
