// What both pages of sending begin with: the template, and the choice between one message and a file.
import type { ComponentChildren } from 'preact'
import type { TemplateRow } from '../../templates/sql.ts'
import { PageHead } from '../components/basics.tsx'
import { ErrorSummary, type FieldErrors } from '../components/form.tsx'
import type { PageAnswer, ServiceVisit } from '../page.ts'
import { templatePath } from '../templates/paths.ts'
import { rich, t } from '../words/index.ts'
import { ModeNotice, ToTabs } from './choose.tsx'
import { sendPath } from './paths.ts'

type Way = 'one' | 'file'

/** `not`: what did not happen because of the errors. */
export function sendPage(
  visit: ServiceVisit,
  template: TemplateRow,
  page: {
    to: Way
    title: string
    status?: number | undefined
    errors: FieldErrors
    not: string
    /** Between what is wrong and the mode of the service. */
    notice?: ComponentChildren
  },
  children: ComponentChildren,
): PageAnswer {
  const { service, url } = visit
  const isWrong = Object.keys(page.errors).length > 0
  return {
    kind: 'page',
    title: isWrong ? t`Error: ${page.title}` : page.title,
    nav: 'send',
    ...(page.to === 'file' && { width: 'narrow' as const }),
    ...(page.status !== undefined && { status: page.status }),
    body: (
      <>
        <PageHead
          title={page.title}
          crumbs={[[t`Send`, sendPath(service.id, page.to)]]}
          lede={
            <>
              {rich`Template ${(
                <a href={url(templatePath(service.id, template.id))}>
                  <bdi>{template.name}</bdi>
                </a>
              )}, version ${template.version}.`}{' '}
              <a href={url(sendPath(service.id, page.to))}>{t`Choose another one`}</a>
            </>
          }
        />
        <ToTabs visit={visit} to={page.to} template={template.id} />
        <ErrorSummary errors={page.errors} title={page.not} />
        {page.notice}
        <ModeNotice visit={visit} channel={template.type} />
        {children}
      </>
    ),
  }
}
