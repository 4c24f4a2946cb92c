/** The address at which a service with these settings is reached. */
export function addressOf({ baseUrl, host, port }: { baseUrl: string | null; host: string; port: number }): string {
  if (baseUrl) return baseUrl
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`
}

/** Where people open the console; it may have a port of its own. */
export const consoleAddressOf = ({
  consolePath,
  consolePort,
  ...config
}: {
  baseUrl: string | null
  host: string
  port: number
  consolePath: string
  consolePort: number | null
}): string => addressOf({ ...config, port: consolePort ?? config.port }) + consolePath

/** Browsers make passkeys for names of hosts, not for addresses. */
export const forBrowsers = (address: string): string => address.replace('//127.0.0.1:', '//localhost:')
