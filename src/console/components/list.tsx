// Lists: tables that become cards on phones, filters above and pages below.
import type { ComponentChildren } from 'preact'
import { t } from '../words/index.ts'
import { Icon } from './basics.tsx'
import { usePage } from './context.ts'

export type Column<R> = {
  /** Words of the heading; `hidden`: for screen readers only, as over actions. */
  head: string
  hidden?: boolean
  cell(row: R): ComponentChildren
  /** num: to the end of the line; status: leads the card on phones. The first column is the name of the row. */
  kind?: 'num' | 'status'
  /** Where the column is left out or does not wrap: `hide-phone`, `hide-mid`, `nowrap`. */
  class?: string
}

const classesOf = (...names: (string | false | undefined)[]) => {
  const all = names.filter(Boolean).join(' ')
  return all ? { class: all } : {}
}

/** Roles are explicit, because phones turn rows into cards and some browsers then drop the semantics. */
export function Table<R>(props: {
  caption: string
  columns: readonly Column<R>[]
  rows: readonly R[]
  keyOf?(row: R): string
  /** The heading of a group of rows that follow each other, such as their day. */
  groupOf?(row: R): string
  /** On phones only the first lines of a card have labels. */
  brief?: boolean
  [data: `data-${string}`]: string | undefined
}) {
  const { caption, columns, rows, keyOf, groupOf, brief, ...rest } = props
  const isFirstOf = (group: string, at: number) => at === 0 || groupOf?.(rows[at - 1] as R) !== group
  return (
    <table role="table" class={brief ? 'table table-brief' : 'table'} {...rest}>
      <caption class="vh">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(column => (
            <th
              key={column.head}
              role="columnheader"
              scope="col"
              {...classesOf(column.kind === 'num' && 'num', column.class)}
            >
              {column.hidden ? <span class="vh">{column.head}</span> : column.head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row, at) => {
          const group = groupOf?.(row)
          return (
            <>
              {group !== undefined && isFirstOf(group, at) && (
                <tr role="row" class="table-group" key={group}>
                  <th role="rowheader" scope="rowgroup" colSpan={columns.length}>
                    {group}
                  </th>
                </tr>
              )}
              <Row key={keyOf?.(row) ?? at} columns={columns} row={row} {...(keyOf && { id: keyOf(row) })} />
            </>
          )
        })}
      </tbody>
    </table>
  )
}

/** One row, also alone as a fragment for the script. */
export function Row<R>({ columns, row, id }: { columns: readonly Column<R>[]; row: R; id?: string }) {
  const [name, ...others] = columns
  return (
    <tr role="row" {...(id && { 'data-id': id })}>
      {name && (
        <th role="rowheader" scope="row" {...classesOf('cell-title', name.class)}>
          {name.cell(row)}
        </th>
      )}
      {others.map(column =>
        column.hidden || column.kind === 'status' ? (
          <td
            key={column.head}
            role="cell"
            {...classesOf(column.kind === 'status' ? 'cell-status' : column.kind, column.class)}
          >
            {column.cell(row)}
          </td>
        ) : (
          <td key={column.head} role="cell" {...classesOf(column.kind, column.class)} data-label={column.head}>
            <span>{column.cell(row)}</span>
          </td>
        ),
      )}
    </tr>
  )
}

/** The first cell of a row: its name as a link, and a line under it. Both may come from outside. */
export const Title = (props: { href: string; sub?: ComponentChildren; children: ComponentChildren }) => (
  <>
    <a class="title" href={props.href}>
      <bdi>{props.children}</bdi>
    </a>
    {props.sub && (
      <span class="sub">
        <bdi>{props.sub}</bdi>
      </span>
    )}
  </>
)

/** Cursors, not page numbers. */
export const Pager = (props: { children?: ComponentChildren; newer?: string | null; older?: string | null }) => (
  <nav class="pager" aria-label={t`Pages`}>
    <span>{props.children}</span>
    <span class="row">
      {props.newer && <a class="btn btn-sm" rel="prev" href={props.newer}>{t`Newer`}</a>}
      {props.older && <a class="btn btn-sm" rel="next" href={props.older}>{t`Older`}</a>}
    </span>
  </nav>
)

/** A GET form above a list. `action` is a path of the console. Never for personal data: the values stand in the address. */
export const Filters = (props: { label: string; action: string; class?: string; children: ComponentChildren }) => (
  <form
    class={props.class ? `filters ${props.class}` : 'filters'}
    role="search"
    aria-label={props.label}
    action={usePage().url(props.action)}
  >
    {props.children}
    <button class="btn" type="submit">{t`Filter`}</button>
  </form>
)

/** A select of the filters; `id` only where a page has the name twice. */
export const FilterSelect = (props: {
  label: string
  name: string
  options: readonly (readonly [value: string, words: string])[]
  value: string | null
  id?: string
}) => (
  <div class="field">
    <label for={props.id ?? props.name}>{props.label}</label>
    <select class="input" id={props.id ?? props.name} name={props.name}>
      {props.options.map(([value, words]) => (
        <option key={value} value={value} selected={value === (props.value ?? '')}>
          {words}
        </option>
      ))}
    </select>
  </div>
)

/** The search field with its icon. */
export const SearchField = (props: { name: string; label: string; value?: string; hasKey?: boolean }) => (
  <>
    <Icon name="search" />
    <input
      class="input"
      type="search"
      name={props.name}
      aria-label={props.label}
      placeholder={props.label}
      value={props.value ?? ''}
      autocomplete="off"
      dir="auto"
    />
    {props.hasKey && <kbd aria-hidden="true">/</kbd>}
  </>
)
