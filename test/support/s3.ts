// A real S3 server that checks signatures, on a folder of its own.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Server = { run(): Promise<{ port: number }>; close(): Promise<void> }
type Make = new (options: object) => Server

export async function s3Server(bucket = 'herald-files') {
  const folder = mkdtempSync(join(tmpdir(), 'herald-s3-'))
  const S3rver = createRequire(import.meta.url)('@20minutes/s3rver') as Make
  const options = {
    port: 0,
    address: '127.0.0.1',
    silent: true,
    directory: folder,
    configureBuckets: [{ name: bucket }],
  }
  const server = new S3rver(options)
  const { port } = await server.run()
  let isUp = true
  const down = async () => {
    if (isUp) await server.close()
    isUp = false
  }
  return {
    url: `http://127.0.0.1:${port}`,
    bucket,
    folder,
    // The one account it knows.
    key: 'S3RVER',
    secret: 'S3RVER',
    down,
    async stop() {
      await down()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
