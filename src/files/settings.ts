// Settings of the scanner and of the file store.
import { label, oneOf, reader, text, webAddress } from '../core/readers.ts'
import { type Settings, setting, type ValuesOf } from '../core/setting.ts'

const clamdUrl = reader(given => {
  const isPath = /^unix:(\/\/)?\/[^\0]+$/.test(given)
  const isHost = /^tcp:\/\/[^/@?#]+$/.test(given) && URL.canParse(given)
  return isPath || isHost ? given : { problem: `is "${given}"; it must be tcp://host:3310 or unix:/path/of/the/socket` }
})

export const settings = {
  scanner: setting(
    'HERALD_SCANNER',
    oneOf('embedded', 'clamd', 'none'),
    'embedded' as 'embedded' | 'clamd' | 'none',
    'The scanner of files: `clamd`, `embedded` with a few signatures (docs/files.md), or `none`, with a warning at every start.',
  ),
  clamdUrl: setting<string | null>(
    'HERALD_CLAMD_URL',
    clamdUrl,
    null,
    'Where clamd listens: `tcp://host:3310` or `unix:/run/clamav/clamd.ctl`.',
    { shown: 'none' },
  ),
  fileStore: setting(
    'HERALD_FILE_STORE',
    oneOf('postgres', 's3'),
    'postgres' as 'postgres' | 's3',
    'Where the contents of files are stored, always sealed: in the database, or in an S3 bucket.',
  ),
  s3Url: setting<string | null>(
    'HERALD_S3_URL',
    webAddress,
    null,
    'Address of the S3 service, like `https://s3.eu-west-1.amazonaws.com`; the bucket is in the path.',
    { shown: 'none' },
  ),
  s3Bucket: setting<string | null>('HERALD_S3_BUCKET', label, null, 'Bucket for the contents of files.', {
    shown: 'none',
  }),
  s3Region: setting('HERALD_S3_REGION', label, 'us-east-1', 'Region in the signatures for the S3 service.'),
  s3Key: setting<string | null>('HERALD_S3_KEY', text, null, 'Access key id for the bucket.', {
    shown: 'none',
    secret: true,
  }),
  s3Secret: setting<string | null>('HERALD_S3_SECRET', text, null, 'Secret access key for the bucket.', {
    shown: 'none',
    secret: true,
  }),
} satisfies Settings

/** Problems between settings that are each valid on their own. */
export function fileProblems({
  scanner,
  clamdUrl,
  fileStore,
  s3Url,
  s3Bucket,
  s3Key,
  s3Secret,
}: ValuesOf<typeof settings>): string[] {
  const problems: string[] = []
  if (scanner === 'clamd' && clamdUrl === null)
    problems.push('HERALD_SCANNER is clamd, but HERALD_CLAMD_URL is not set')
  if (fileStore === 's3' && !(s3Url && s3Bucket && s3Key && s3Secret))
    problems.push(
      'HERALD_FILE_STORE is s3, but HERALD_S3_URL, HERALD_S3_BUCKET, HERALD_S3_KEY and HERALD_S3_SECRET are not all set',
    )
  return problems
}
