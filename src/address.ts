/** The address at which a service with these settings is reached. */
export function addressOf({ baseUrl, host, port }: { baseUrl: string | null; host: string; port: number }): string {
  if (baseUrl) return baseUrl
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`
}
