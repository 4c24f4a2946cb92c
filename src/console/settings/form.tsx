// The pages below the settings: one frame for all of them, and one form.
import type { ComponentChildren } from 'preact'
import { Card, PageHead } from '../components/basics.tsx'
import { AsCommand } from '../components/behind.tsx'
import { ErrorSummary, type FieldErrors, Form } from '../components/form.tsx'
import type { PageAnswer, ServiceVisit } from '../page.ts'
import { t } from '../words/index.ts'
import { settingsPath } from './rows.tsx'

type Below = {
  title: string
  /** The heading, where it is more than the title. */
  heading?: ComponentChildren
  lede: ComponentChildren
  /** Beside the heading. */
  aside?: ComponentChildren
  /** Above what is wrong: what was done. */
  done?: ComponentChildren
  errors?: FieldErrors
  /** What did not happen because of the errors. */
  not?: string
  /** The command that does the same. */
  command: string
}

export function belowSettings(
  { service }: ServiceVisit,
  { title, heading = title, lede, aside, done, errors = {}, not = t`Not saved yet`, command }: Below,
  children: ComponentChildren,
): PageAnswer {
  const isWrong = Object.values(errors).some(error => error !== undefined)
  return {
    kind: 'page',
    title: isWrong ? t`Error: ${title}` : title,
    width: 'narrow',
    nav: 'settings',
    ...(isWrong && { status: 422 }),
    body: (
      <>
        <PageHead title={heading} crumbs={[[t`Settings`, settingsPath(service.id)]]} lede={lede}>
          {aside}
        </PageHead>
        {done}
        <ErrorSummary errors={errors} title={not} />
        {children}
        <AsCommand command={command} />
      </>
    ),
  }
}

/** `path`: where it is posted, below the settings. The way back comes first. */
export const settingsForm = (
  visit: ServiceVisit,
  below: Below & { path: string; keep?: string; button: string; isDanger?: boolean },
  fields: ComponentChildren,
): PageAnswer =>
  belowSettings(
    visit,
    below,
    <Card>
      <Form action={settingsPath(visit.service.id, below.path)}>
        {fields}
        <div class="row">
          <a class="btn" href={visit.url(settingsPath(visit.service.id))}>
            {below.keep ?? t`Cancel`}
          </a>
          <button class={below.isDanger ? 'btn btn-danger' : 'btn btn-primary'} type="submit">
            {below.button}
          </button>
        </div>
      </Form>
    </Card>,
  )
