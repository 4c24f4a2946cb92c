// Fields that several forms of templates have.
import type { Id } from '../../core/id.ts'
import type { Category } from '../../templates/categories.ts'
import { flat, type PlacedFolder, pathText } from '../../templates/folder.ts'
import { Input, Select } from '../components/form.tsx'
import { type Marked, mark, say, t } from '../words/index.ts'

const PACES: Readonly<Record<Category['lane'], Marked>> = {
  high: mark('sent first'),
  medium: mark('sent in turn'),
  low: mark('sent last'),
}

/** `current`: a category that is no longer offered stays possible for its template. */
export const CategoryField = (props: {
  categories: readonly Category[]
  value: string
  error?: string | undefined
  current?: { id: Id; name: string }
}) => {
  const { categories, current } = props
  const isOffered = !current || categories.some(({ id }) => id === current.id)
  return (
    <Select
      name="category"
      label={t`Category`}
      hint={t`What the message is for. It decides which messages leave first when many wait.`}
      width="md"
      error={props.error}
      value={props.value}
      options={[
        ...(props.value === '' ? [['', t`Choose a category`] as const] : []),
        ...(current && !isOffered ? [[current.id, current.name] as const] : []),
        ...categories.map(({ id, name, lane }) => [id, `${name} (${say(PACES[lane])})`] as const),
      ]}
    />
  )
}

/** `without`: a folder that cannot go into itself or into those inside it. */
export const FolderField = (props: {
  folders: readonly PlacedFolder[]
  value: string
  label?: string
  none?: string
  hint?: string
  error?: string | undefined
  without?: Id
}) => (
  <Select
    name="folder"
    label={props.label ?? t`Folder`}
    width="md"
    {...(props.hint && { hint: props.hint })}
    error={props.error}
    value={props.value}
    options={[
      ['', props.none ?? t`In no folder`],
      ...flat(props.folders)
        .filter(folder => !props.without || !folder.ids.includes(props.without))
        .map(folder => [folder.id, pathText(folder)] as const),
    ]}
  />
)

export const NameField = (props: { value: string; hint: string; error?: string | undefined }) => (
  <Input name="name" label={t`Name`} hint={props.hint} value={props.value} error={props.error} dir="auto" required />
)
