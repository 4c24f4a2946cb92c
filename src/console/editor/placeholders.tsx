// The placeholders of a template with their example values.
import { keyed, keyOf, shows, type Values } from '../../rendering/placeholders.ts'
import type { Placeholder } from '../../templates/draft.ts'
import { Card } from '../components/basics.tsx'
import { ErrorText, type FieldErrors } from '../components/form.tsx'
import { Table } from '../components/list.tsx'
import { rich, t } from '../words/index.ts'
import { SAMPLE_NAME, SAMPLE_VALUE, sampleField, textOf } from './given.ts'

/** The most that are listed: each is a field. */
const MOST = 200

/** The script replaces it only when the names change, because somebody may be typing in it. */
export function Placeholders(props: {
  placeholders: readonly Placeholder[]
  values: Values
  /** Null: the channel has no formatting. */
  literalValues: boolean | null
  canEdit: boolean
  errors?: FieldErrors
}) {
  const { literalValues, canEdit, errors = {} } = props
  const placeholders = props.placeholders.slice(0, MOST)
  const more = props.placeholders.length - placeholders.length
  const values = keyed(props.values)
  const valueFor = ({ name }: Placeholder) => values.get(keyOf(name))
  return (
    <div data-part="placeholders" data-names={JSON.stringify(placeholders)}>
      <Card
        title={t`Placeholders`}
        body={placeholders.length === 0}
        foot={
          placeholders.length > 0 && (
            <>
              {literalValues === null
                ? t`Values are sent as they are.`
                : literalValues
                  ? t`Values are plain text: they cannot make links or formatting.`
                  : t`Markdown in values is formatted, and addresses in them become links.`}
              {canEdit && ` ${t`Several lines make a list.`}`}
              {more > 0 && ` ${t`${more} more are not listed.`}`}
            </>
          )
        }
      >
        {placeholders.length === 0 ? (
          <p class="muted">{rich`None yet. ${<code>((name))</code>} in the text becomes a value of each recipient, and ${<code>((late??text))</code>} a text that only some get.`}</p>
        ) : (
          <Table
            caption={t`Placeholders of this template`}
            rows={placeholders}
            columns={[
              {
                head: t`Placeholder`,
                cell: one => (
                  <>
                    <code>
                      <bdi>{one.name}</bdi>
                    </code>
                    {one.isCondition && <span class="sub">{t`yes or no`}</span>}
                  </>
                ),
              },
              {
                head: t`Example value`,
                cell: one =>
                  canEdit ? (
                    <SampleField
                      placeholder={one}
                      value={valueFor(one)}
                      id={sampleField(placeholders, one.name)}
                      errors={errors}
                    />
                  ) : (
                    <bdi>{textOf(valueFor(one)) || '–'}</bdi>
                  ),
              },
            ]}
          />
        )}
      </Card>
    </div>
  )
}

function SampleField(props: { placeholder: Placeholder; value: unknown; id: string; errors: FieldErrors }) {
  const { value, id } = props
  const { name, isCondition } = props.placeholder
  const error = props.errors[id]
  const label = t`Example for ${name}`
  return (
    <>
      <input type="hidden" name={SAMPLE_NAME} value={name} />
      {isCondition ? (
        <select class="input" name={SAMPLE_VALUE} aria-label={label}>
          <option value="yes" selected={value == null || shows(value)}>{t`yes`}</option>
          <option value="no" selected={value != null && !shows(value)}>{t`no`}</option>
        </select>
      ) : (
        <div class={error ? 'field field-bad' : 'field'}>
          {error && <ErrorText id={`${id}-error`}>{error}</ErrorText>}
          <textarea
            class="input input-value"
            id={id}
            name={SAMPLE_VALUE}
            aria-label={label}
            rows={1}
            dir="auto"
            {...(error && { 'aria-invalid': 'true' as const, 'aria-describedby': `${id}-error` })}
          >
            {`\n${textOf(value)}`}
          </textarea>
        </div>
      )}
    </>
  )
}
