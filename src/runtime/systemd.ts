// Tells systemd that a start is done (Type=notify). The message is a datagram on a Unix socket, which Node.js cannot send, so
// systemd-notify sends it: it is installed wherever systemd is.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Rejects if systemd could not be notified. */
export async function tellReady(socket: string): Promise<void> {
  const env = { NOTIFY_SOCKET: socket, PATH: '/usr/bin:/bin', LC_ALL: 'C' }
  await promisify(execFile)('systemd-notify', ['--ready'], { env, timeout: 30_000 })
}
