// What differs between two versions. Signs and words say it, colour only repeats it.
import type { Comparison, Field, Line, Row } from '../../templates/compare.ts'
import { usePage } from '../components/context.ts'
import { type Marked, mark, plural, rich, say, t } from '../words/index.ts'

const FIELDS: Readonly<Record<Field, Marked>> = {
  name: mark('Name'),
  category: mark('Category'),
  values: mark('Markdown in values'),
  subject: mark('Subject'),
  content: mark('Message'),
}

const SIGNS = { same: '', removed: '−', added: '+' } as const
const CLASSES = { same: undefined, removed: 'del', added: 'add' } as const

/** `before`, `after`: what the two are called, such as "version 20". */
export function Differences(props: { comparison: Comparison; before: string; after: string }) {
  const { formats } = usePage()
  const { changes, placeholders } = props.comparison
  if (changes.length === 0) return <p>{rich`${capital(props.before)} and ${props.after} have the same words.`}</p>
  const added = changes.reduce((sum, { diff }) => sum + diff.added, 0)
  const removed = changes.reduce((sum, { diff }) => sum + diff.removed, 0)
  return (
    <>
      {changes.map(({ field, diff }) => (
        <div class="stack" key={field}>
          <h3>{say(FIELDS[field])}</h3>
          <table class="diff">
            <caption class="vh">{t`${say(FIELDS[field])}: lines of ${props.before} and ${props.after}`}</caption>
            <thead class="vh">
              <tr>
                <th scope="col">{t`Old line`}</th>
                <th scope="col">{t`New line`}</th>
                <th scope="col">{t`Sign`}</th>
                <th scope="col">{t`Text`}</th>
              </tr>
            </thead>
            <tbody>
              {diff.rows.map((row, at) => (
                <DiffRow key={at} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      ))}
      <p class="legend">
        <span class="good">
          {plural(added, t`+ ${formats.number(added)} line added`, t`+ ${formats.number(added)} lines added`)}
        </span>
        <span class="bad">
          {plural(removed, t`− ${formats.number(removed)} line removed`, t`− ${formats.number(removed)} lines removed`)}
        </span>
        {placeholders.added.length + placeholders.removed.length > 0 && (
          <span>
            {t`Placeholders:`}{' '}
            {placeholders.added.length > 0 && (
              <Names names={placeholders.added} words={plural(placeholders.added.length, t`is new`, t`are new`)} />
            )}
            {placeholders.added.length > 0 && placeholders.removed.length > 0 && ', '}
            {placeholders.removed.length > 0 && (
              <Names
                names={placeholders.removed}
                words={plural(placeholders.removed.length, t`is gone`, t`are gone`)}
              />
            )}
          </span>
        )}
      </p>
    </>
  )
}

function DiffRow({ row }: { row: Row }) {
  const { formats } = usePage()
  if (row.sign === 'skipped')
    return (
      <tr>
        <td class="ln" />
        <td class="ln" />
        <td class="sg">…</td>
        <td>
          {plural(row.lines, t`${formats.number(row.lines)} more line`, t`${formats.number(row.lines)} more lines`)}
        </td>
      </tr>
    )
  const name = CLASSES[row.sign]
  return (
    <tr {...(name && { class: name })}>
      <td class="ln">{row.before}</td>
      <td class="ln">{row.after}</td>
      <td class="sg">
        {SIGNS[row.sign]}
        {row.sign !== 'same' && <span class="vh">{row.sign === 'removed' ? t`removed` : t`added`}</span>}
      </td>
      <td dir="auto">
        <Pieces line={row} />
      </td>
    </tr>
  )
}

function Pieces({ line }: { line: Line }) {
  const Changed = line.sign === 'removed' ? 'del' : 'ins'
  return (
    <>
      {line.pieces.map(({ text, changed }, at) =>
        changed ? <Changed key={at}>{text}</Changed> : <span key={at}>{text}</span>,
      )}
    </>
  )
}

/** "first name and discount are new". */
const MOST_NAMES = 20
export function Names({ names, words }: { names: readonly string[]; words: string }) {
  const shown = names.slice(0, MOST_NAMES)
  return (
    <>
      {shown.map((name, at) => (
        <span key={name}>
          {at > 0 && (at === names.length - 1 ? ` ${t`and`} ` : ', ')}
          <b>
            <bdi>{name}</bdi>
          </b>
        </span>
      ))}
      {names.length > shown.length && ` ${t`and ${names.length - shown.length} more`}`} {words}
    </>
  )
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
