// Forms. A form posts to a page of the console and holds the token; an error stands at its field and in a summary on top.
import type { ComponentChildren } from 'preact'
import { t } from '../words/index.ts'
import { Icon } from './basics.tsx'
import { usePage } from './context.ts'

/** The name of the hidden field. */
export const FORM_TOKEN = 'form_token'

/** The hidden field alone, for a form with markup of its own. */
export const FormToken = () => <input type="hidden" name={FORM_TOKEN} value={usePage().formToken} />

/** A form that changes something. `action` is a path of the console; absent: this page. */
export const Form = (props: {
  action?: string
  class?: string
  id?: string
  children: ComponentChildren
  [data: `data-${string}`]: string | undefined
}) => {
  const { url } = usePage()
  const { action, children, class: name = 'form', ...rest } = props
  return (
    <form method="post" class={name} {...rest} {...(action !== undefined && { action: url(action) })} noValidate>
      <FormToken />
      {children}
    </form>
  )
}

/** What is wrong, by the name of the field. */
export type FieldErrors = Readonly<Record<string, string | undefined>>

type FieldProps = {
  label: ComponentChildren
  /** Also the id. */
  name: string
  hint?: ComponentChildren
  error?: string | undefined
}

const describedBy = ({ name, hint, error }: FieldProps) => {
  const ids = [hint ? `${name}-hint` : '', error ? `${name}-error` : ''].filter(Boolean).join(' ')
  return {
    ...(ids && { 'aria-describedby': ids }),
    ...(error && { 'aria-invalid': 'true' as const }),
  }
}

export const ErrorText = ({ id, children }: { id: string; children: ComponentChildren }) => (
  <p class="error-text" id={id}>
    <Icon name="alert" />
    <span>{children}</span>
  </p>
)

/** Label, hint and error around a control. */
export const Field = (props: FieldProps & { children: ComponentChildren }) => (
  <div class={props.error ? 'field field-bad' : 'field'}>
    <label class="label" for={props.name}>
      {props.label}
    </label>
    {props.hint && (
      <p class="hint" id={`${props.name}-hint`}>
        {props.hint}
      </p>
    )}
    {props.error && <ErrorText id={`${props.name}-error`}>{props.error}</ErrorText>}
    {props.children}
  </div>
)

type Width = 'sm' | 'md' | 'full'
const widthClass = (width: Width | undefined) =>
  width === undefined || width === 'full' ? 'input' : `input w-${width}`

export const Input = (
  props: FieldProps & {
    value?: string
    type?: 'text' | 'email' | 'tel' | 'search' | 'number' | 'date' | 'time'
    min?: string
    max?: string
    width?: Width
    required?: boolean
    autocomplete?: string
    maxLength?: number
    placeholder?: string
    /** Of a value from outside that may be written from right to left. */
    dir?: 'auto'
  },
) => {
  const { label, name, hint, error, width, autocomplete = 'off', type = 'text', ...rest } = props
  const field = { label, name, hint, error }
  return (
    <Field {...field}>
      <input
        {...rest}
        {...describedBy(field)}
        class={widthClass(width)}
        id={name}
        name={name}
        autocomplete={autocomplete}
        // The types of preact allow a role for each type of field only.
        {...({ type } as { type: 'text' })}
      />
    </Field>
  )
}

export const Textarea = (props: FieldProps & { value?: string; rows?: number; required?: boolean }) => {
  const { value = '', rows = 6, required, ...field } = props
  return (
    <Field {...field}>
      {/* The parser drops a line break directly after the tag, so one is always written. */}
      <textarea
        class="input"
        id={field.name}
        name={field.name}
        rows={rows}
        required={required ?? false}
        dir="auto"
        {...describedBy(field)}
      >
        {`\n${value}`}
      </textarea>
    </Field>
  )
}

export type Option = readonly [value: string, words: string]

export const Select = (
  props: FieldProps & { options: readonly Option[]; value?: string | undefined; width?: Width },
) => {
  const { options, value, width, ...field } = props
  return (
    <Field {...field}>
      <select class={widthClass(width)} id={field.name} name={field.name} {...describedBy(field)}>
        {options.map(([option, words]) => (
          <option key={option} value={option} selected={option === value}>
            {words}
          </option>
        ))}
      </select>
    </Field>
  )
}

export type ChoiceOption = {
  value: string
  words: ComponentChildren
  hint?: ComponentChildren
  checked?: boolean
  disabled?: boolean
}

/** One checkbox or radio button with its words. */
export const Choice = (props: ChoiceOption & { name: string; type: 'checkbox' | 'radio'; id?: string }) => (
  <label class="choice">
    <input
      type={props.type}
      name={props.name}
      value={props.value}
      checked={props.checked ?? false}
      disabled={props.disabled ?? false}
      {...(props.id && { id: props.id })}
    />
    <span>{props.words}</span>
    {props.hint && <span class="hint">{props.hint}</span>}
  </label>
)

/** Several choices under one legend. */
export const Choices = (
  props: Omit<FieldProps, 'label'> & {
    legend: ComponentChildren
    type: 'checkbox' | 'radio'
    options: readonly ChoiceOption[]
  },
) => (
  <fieldset
    class={props.error ? 'field field-bad' : 'field'}
    id={props.name}
    {...describedBy({ ...props, label: props.legend })}
  >
    <legend>{props.legend}</legend>
    {props.hint && (
      <p class="hint" id={`${props.name}-hint`}>
        {props.hint}
      </p>
    )}
    {props.error && <ErrorText id={`${props.name}-error`}>{props.error}</ErrorText>}
    {props.options.map(option => (
      <Choice key={option.value} {...option} name={props.name} type={props.type} />
    ))}
  </fieldset>
)

/** On top of a page with errors; each links to its field. The title of the page begins with "Error:". */
export const ErrorSummary = ({ errors, title = t`Not saved yet` }: { errors: FieldErrors; title?: string }) => {
  const wrong = Object.entries(errors).filter(([, sentence]) => sentence !== undefined)
  return wrong.length === 0 ? null : (
    <div class="callout bad" role="alert" tabIndex={-1} data-focus="">
      <Icon name="alert" />
      <div>
        <h2>{title}</h2>
        <ul>
          {wrong.map(([name, sentence]) => (
            <li key={name}>
              <a href={`#${name}`}>{sentence}</a>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

/** Radio buttons that switch a view. */
export const Segmented = (props: {
  legend: string
  name: string
  options: readonly { id: string; words: string; value?: string; checked?: boolean }[]
}) => (
  <fieldset class="segmented">
    <legend class="vh">{props.legend}</legend>
    {props.options.map(({ id, words, value, checked }) => (
      <label key={id}>
        <input
          type="radio"
          name={props.name}
          id={id}
          {...(value !== undefined && { value })}
          checked={checked ?? false}
        />
        {words}
      </label>
    ))}
  </fieldset>
)
