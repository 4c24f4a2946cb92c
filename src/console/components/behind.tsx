// The API or CLI call that gives the same data as the page, at its end.

import { t } from '../words/index.ts'
import { Code, More } from './basics.tsx'
import { usePage } from './context.ts'

/** `path` begins with /v2 or /herald. Values of the page never stand in it, except ids. */
export function AsCurl(props: { method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'; path: string; body?: unknown }) {
  const { baseUrl } = usePage()
  const { method = 'GET', path, body } = props
  return (
    <More class="no-print" summary={t`The API call behind this page`}>
      <Code>{curl({ method, url: `${baseUrl}${path}`, body })}</Code>
    </More>
  )
}

/** A request for a shell, with the key of its environment unless one is given. */
export function curl(props: { method?: string; url: string; key?: string; body?: unknown; indent?: number }): string {
  const { method = 'GET', url, key = '$HERALD_KEY', body, indent } = props
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}"${url}"`,
    `  -H "Authorization: ApiKey-v1 ${key}"`,
    ...(body === undefined
      ? []
      : [
          '  -H "Content-Type: application/json"',
          `  -d '${JSON.stringify(body, null, indent).replaceAll("'", "'\\''")}'`,
        ]),
  ]
  return lines.join(' \\\n')
}

/** For what the API does not have. */
export const AsCommand = ({ command }: { command: string }) => (
  <More class="no-print" summary={t`The command behind this page`}>
    <Code>{command}</Code>
  </More>
)
