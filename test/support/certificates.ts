// Certificates made with openssl for this run only; null where openssl is not installed.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Certificate = { key: string; certificate: string }

export function selfSigned(name: string, days = 2): Certificate | null {
  const folder = mkdtempSync(join(tmpdir(), 'herald-certificate-'))
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  try {
    const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name},IP:127.0.0.1`]
    const output = ['-keyout', key, '-out', certificate, '-days', String(days)]
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...output], {
      stdio: 'ignore',
    })
    return { key: readFileSync(key, 'utf8'), certificate: readFileSync(certificate, 'utf8') }
  } catch {
    return null
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
