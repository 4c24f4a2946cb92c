// The form of one message, made from the placeholders of its template, with the preview beside it.
import type { ComponentChildren } from 'preact'
import { CHANNELS } from '../../channels/index.ts'
import { shows } from '../../rendering/placeholders.ts'
import { type Placeholder, placeholdersOf } from '../../templates/draft.ts'
import type { TemplateRow } from '../../templates/sql.ts'
import { Icon, More } from '../components/basics.tsx'
import { AsCurl } from '../components/behind.tsx'
import { Field, type FieldErrors, FormToken, Input, Select } from '../components/form.tsx'
import type { PageAnswer, ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import { type Given, isEmail, nameField, textOf, valueField } from './given.ts'
import { sendPage } from './head.tsx'
import { sendPath } from './paths.ts'
import { PreviewParts, previewOf } from './preview.tsx'
import { Left, roomFor } from './room.tsx'
import { WhenFields } from './when.tsx'

export type OnePageOptions = { status?: number; errors?: FieldErrors; notice?: ComponentChildren }

export async function onePage(
  visit: ServiceVisit,
  template: TemplateRow,
  given: Given,
  { status, errors = {}, notice }: OnePageOptions = {},
): Promise<PageAnswer> {
  const { service, url } = visit
  const [previewed, room, origins] = await Promise.all([
    previewOf(visit, template, given),
    roomFor(visit, template.type),
    originsOf(visit, template),
  ])
  return sendPage(
    visit,
    template,
    { to: 'one', title: t`Send one message`, status, errors, not: t`Not sent yet`, notice },
    <>
      <form
        method="post"
        class="cols-even"
        action={url(sendPath(service.id, 'one'))}
        noValidate
        data-editor={url(`/s/${service.id}/send/live`)}
      >
        <FormToken />
        <input type="hidden" name="template" value={template.id} />
        {/* Enter in a field presses the first button of the form. */}
        <button name="act" value="check" hidden />
        <div class="form">
          <Recipient template={template} given={given} error={errors.to} />
          <Values template={template} given={given} errors={errors} />
          <WhenFields when={given.when} errors={errors} now={visit.parts.clock.now()} />
          <Options template={template} given={given} errors={errors} origins={origins} />
          {isEmail(template) && service.may_send_files && (
            <p class="hint">{t`Files are sent by programs only: the interface takes them with a message, a person cannot.`}</p>
          )}
          <div class="row">
            <button class="btn btn-primary" name="act" value="check">
              {t`Check the message`}
            </button>
            <a class="btn btn-quiet" href={url(`/s/${service.id}`)}>{t`Cancel`}</a>
          </div>
        </div>
        <div class="stack">
          <div class="row row-between">
            <h2>{t`Preview`}</h2>
            <button class="btn btn-sm" name="act" value="preview">
              <Icon name="repeat" />
              {t`Update preview`}
            </button>
          </div>
          <PreviewParts template={template} previewed={previewed} />
          <Left room={room} />
        </div>
      </form>
      <AsCurl method="POST" path={`/v2/notifications/${template.type}`} body={callOf(template)} />
    </>,
  )
}

/** Values of the page never stand in it. */
export function callOf(template: TemplateRow) {
  const names = placeholdersOf(template).map(({ name }) => name)
  return {
    [CHANNELS[template.type].recipient.field]: '…',
    template_id: template.id,
    ...(names.length > 0 && { personalisation: Object.fromEntries(names.map(name => [name, '…'])) }),
  }
}

export type Origins = readonly (readonly [id: string, words: string])[]

/** Reply-to addresses or text senders of the service; the default comes first. */
export async function originsOf(visit: ServiceVisit, template: TemplateRow): Promise<Origins> {
  const loaded = await visit.parts.services.get(visit.service.id)
  const all = isEmail(template)
    ? (loaded?.reply_tos ?? []).map(({ email_address, ...one }) => ({ ...one, words: email_address }))
    : (loaded?.senders ?? []).map(({ sender, ...one }) => ({ ...one, words: sender }))
  return all
    .toSorted((a, b) => Number(b.is_default) - Number(a.is_default))
    .map(({ id, words, is_default }) => [is_default ? '' : id, words] as const)
}

function Recipient({ template, given, error }: { template: TemplateRow; given: Given; error: string | undefined }) {
  const ofEmail = isEmail(template)
  return (
    <div class="stack stack-sm">
      <Input
        name="to"
        label={ofEmail ? t`To, e-mail address` : t`To, phone number`}
        type={ofEmail ? 'email' : 'tel'}
        value={given.to}
        {...(error && { error })}
      />
      <p>
        <button class="link-btn sm" name="act" value="self">
          {ofEmail ? t`Use my own address` : t`Use my own number`}
        </button>
      </p>
    </div>
  )
}

function Values({ template, given, errors }: { template: TemplateRow; given: Given; errors: FieldErrors }) {
  const all = placeholdersOf(template)
  if (all.length === 0) return null
  return (
    <fieldset class="form">
      <legend class="vh">{t`Values of the placeholders`}</legend>
      {all.map((one, at) => (
        <Value key={one.name} placeholder={one} at={at} value={given.values[one.name]} error={errors[valueField(at)]} />
      ))}
    </fieldset>
  )
}

function Value(props: { placeholder: Placeholder; at: number; value: unknown; error: string | undefined }) {
  const { placeholder, at, value, error } = props
  const name = valueField(at)
  const label = <bdi>{placeholder.name}</bdi>
  const described = error ? { 'aria-invalid': 'true' as const, 'aria-describedby': `${name}-error` } : {}
  return (
    <>
      <input type="hidden" name={nameField(at)} value={placeholder.name} />
      {placeholder.isCondition ? (
        <Select
          name={name}
          label={label}
          hint={t`Whether the recipient gets a part of the text.`}
          width="sm"
          value={value == null ? '' : shows(value) ? 'yes' : 'no'}
          options={[
            ['', t`Choose`],
            ['yes', t`yes`],
            ['no', t`no`],
          ]}
          {...(error && { error })}
        />
      ) : (
        <Field name={name} label={label} error={error}>
          {/* Several lines make a list. */}
          <textarea class="input input-value" id={name} name={name} rows={1} dir="auto" {...described}>
            {`\n${textOf(value)}`}
          </textarea>
        </Field>
      )}
    </>
  )
}

function Options(props: { template: TemplateRow; given: Given; errors: FieldErrors; origins: Origins }) {
  const { template, given, errors, origins } = props
  const ofEmail = isEmail(template)
  return (
    <More
      summary={ofEmail ? t`Reply-to address and reference` : t`Sender and reference`}
      open={errors.reference !== undefined || errors.sender !== undefined}
    >
      <div class="form">
        {origins.length > 0 && (
          <Select
            name="sender"
            label={ofEmail ? t`Replies go to` : t`Sender`}
            value={given.sender ?? ''}
            options={origins}
            {...(errors.sender && { error: errors.sender })}
          />
        )}
        <Input
          name="reference"
          label={t`Your reference`}
          hint={t`Nothing personal: references are not encrypted.`}
          value={given.reference}
          {...(errors.reference && { error: errors.reference })}
        />
      </div>
    </More>
  )
}
